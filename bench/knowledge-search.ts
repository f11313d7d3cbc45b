import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../src/client/client.ts'
import { createClient } from '../src/client/create.ts'
import { openBare } from './knowledge-bare.ts'
import { markdownFile, seeded, vocabulary } from './knowledge-corpus.ts'
import { percentile } from './percentile.ts'
import { bin, startArgs } from './start-up.ts'

export interface SearchFigures {
  chunks: number
  http: { p50: number; p99: number }
  bare: { p50: number; p99: number }
}

const chunkSize = 1_000
const chunksADocument = 10
const documentsARequest = 50
/** From so many on there is a vector index, made when nobody writes. */
const indexedFrom = 15_000
/** Nobody having written for 5 s, files are joined and the index is taken into use; nobody searches meanwhile. */
const settledMs = 8_000
const warmUp = 20
const seed = 11
const words = 60_000

/**
 * Hybrid searches through HTTP of exactly so many chunks, and after each the same two queries bare, so that both see the
 * same machine.
 */
export async function measureSearch(chunks: number, searches: number): Promise<SearchFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-search-'))
  const server = spawn(process.execPath, ['--no-warnings', bin, ...startArgs(join(folder, 'data'))], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const gone = once(server, 'exit')
  try {
    const [line] = (await once(server.stdout.setEncoding('utf8'), 'data')) as [string]
    const client = createClient({ url: (JSON.parse(line) as { url: string }).url })
    await fill(client, chunks)
    const held = (await client.knowledge.status()).chunks
    if (held !== chunks) throw new Error(`${held} chunks instead of ${chunks}`)
    const knowledge = join(folder, 'data', 'knowledge')
    if (chunks >= indexedFrom) await untilIndexed(join(knowledge, 'vectors', 'k1_v1_hashed_ngrams_1.lance'))
    await sleep(settledMs)
    const bare = await openBare(knowledge)
    const times = { http: [] as number[], bare: [] as number[] }
    for (const [at, query] of questions(warmUp + searches).entries()) {
      const search = await bare.prepare(query)
      const startedMs = performance.now()
      await client.knowledge.search(query)
      const answeredMs = performance.now()
      await search()
      if (at < warmUp) continue
      times.http.push(answeredMs - startedMs)
      times.bare.push(performance.now() - answeredMs)
    }
    await bare.close()
    await client.close()
    return { chunks, http: percentiles(times.http), bare: percentiles(times.bare) }
  } finally {
    server.kill('SIGTERM')
    await gone
    await rm(folder, { recursive: true, force: true })
  }
}

export function searchTable(rows: readonly SearchFigures[]): string {
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const lines = rows.map(({ chunks, http, bare }) => {
    const times = [http.p50, http.p99, bare.p50, bare.p99].map(ms).join(' | ')
    return `| ${chunks} | ${times} | ${(http.p50 / bare.p50).toFixed(2)} × | ${(http.p99 / bare.p99).toFixed(2)} × |`
  })
  const head =
    '| Chunks | Hybrid, HTTP p50 | p99 | Two queries bare p50 | p99 | p50 | p99 |\n|---|---|---|---|---|---|---|'
  return [head, ...lines].join('\n')
}

/** Of words that are in several chunks, for a word that is in none is looked for under other spellings too. */
export function questions(count: number): string[] {
  const word = vocabulary(words, seeded(seed))
  const counts = new Map<string, number>()
  for (let draw = 0; draw < 100_000; draw++) {
    const drawn = word()
    counts.set(drawn, (counts.get(drawn) ?? 0) + 1)
  }
  const usual = [...counts].filter(([, times]) => times > 3 && times < 60).map(([drawn]) => drawn)
  const pick = (at: number) => usual[at % usual.length]
  return Array.from(
    { length: count },
    (_, at) => `how does ${pick(at * 7)} ${pick(at * 11 + 1)} do ${pick(at * 13 + 2)}`,
  )
}

/** Documents of ASCII, cut by their length alone. */
async function fill(client: Client, chunks: number): Promise<void> {
  const random = seeded(seed)
  const word = vocabulary(words, random)
  const documents = Array.from({ length: chunks / chunksADocument }, (_, at) => ({
    source: `page-${at}.md`,
    content: markdownFile(at, chunkSize * chunksADocument, word, random),
    chunker_type: 'character' as const,
    chunk_size: chunkSize,
    chunk_overlap: 0,
  }))
  for (let at = 0; at < documents.length; at += documentsARequest)
    await client.knowledge.ingestMany({ documents: documents.slice(at, at + documentsARequest) })
}

async function untilIndexed(table: string): Promise<void> {
  while (!(await readdir(table)).includes('_indices')) await sleep(200)
}

function percentiles(times: number[]): { p50: number; p99: number } {
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}
