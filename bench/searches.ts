import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { composeKnowledge as Compose } from '../test/support/knowledge/folder.ts'
import { markdownFile, seeded, vocabulary } from './knowledge-corpus.ts'
import { percentile } from './percentile.ts'
import { measuredOn, writeInto } from './write-into.ts'

/*
 * Hybrid searches in the process of the knowledge base, one at a time, in collections of at least so many `--chunks`
 * (34000,100000): for a minute right after the ingestion, while vectors are indexed, and then `--searches` (300) in rest, with
 * the processor time of each. `--against` a checkout of another commit with the same test/support: that one too. `--write`: into
 * docs/benchmarks.md.
 */
const { values: options } = parseArgs({
  options: {
    chunks: { type: 'string', default: '34000,100000' },
    searches: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '60' },
    against: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const documentBytes = 20_000
const documentsAtOnce = 100
const words = 60_000
const seed = 11
const afterMs = Number(options.seconds) * 1000

interface Times {
  ms: number[]
  cpuMs: number[]
}

const here = resolve(import.meta.dirname, '..')
const builds = [here, ...(options.against === undefined ? [] : [resolve(options.against)])]
const lines: string[] = []
for (const size of options.chunks.split(','))
  for (const build of builds) {
    const line = await measure(build, Number(size))
    console.error(line)
    lines.push(line)
  }
const table = [
  measuredOn(availableParallelism(), cpus()[0]?.model.trim() ?? ''),
  '',
  '| Chunks | Build | Ingestion | In the minute after: p50 | p99 | most | In rest: p50 | p99 | CPU p50 |',
  '|---|---|---|---|---|---|---|---|---|',
  ...lines,
].join('\n')
console.log(table)
if (options.write) await writeInto('measured of searches', table, 'Searches of large collections')

async function measure(build: string, wanted: number): Promise<string> {
  const path = pathToFileURL(join(build, 'test/support/knowledge/folder.ts')).href
  const { composeKnowledge } = (await import(path)) as { composeKnowledge: typeof Compose }
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-searches-'))
  const knowledge = composeKnowledge(folder)
  await knowledge.open()
  try {
    const random = seeded(seed)
    const word = vocabulary(words, random)
    let chunks = 0
    let bytes = 0
    const begin = performance.now()
    for (let at = 0; chunks < wanted; ) {
      const documents = Array.from({ length: documentsAtOnce }, () => {
        const content = markdownFile(at, documentBytes, word, random)
        bytes += content.length
        return { source: `page-${at}.md`, name: `page-${at++}.md`, content }
      })
      for (const { chunk_count } of await knowledge.ingestMany(documents)) chunks += chunk_count
    }
    const speed = bytes / 1e3 / (performance.now() - begin)
    const question = questions(word)
    const search = async (times: Times) => {
      const query = question()
      const [startedMs, cpu] = [performance.now(), process.cpuUsage()]
      await knowledge.search({ query, limit: 6 })
      times.ms.push(performance.now() - startedMs)
      const { user, system } = process.cpuUsage(cpu)
      times.cpuMs.push((user + system) / 1000)
    }
    const after: Times = { ms: [], cpuMs: [] }
    for (const endMs = performance.now() + afterMs; performance.now() < endMs; ) await search(after)
    const rest: Times = { ms: [], cpuMs: [] }
    for (let count = 0; count < Number(options.searches); count++) await search(rest)
    const ms = (value: number) => `${value.toFixed(1)} ms`
    const cells = [percentile(after.ms, 0.5), percentile(after.ms, 0.99), Math.max(...after.ms)]
      .concat(percentile(rest.ms, 0.5), percentile(rest.ms, 0.99), percentile(rest.cpuMs, 0.5))
      .map(ms)
    const name = build === here ? 'this' : 'other'
    return `| ${chunks} | ${name} | ${speed.toFixed(1)} MB/s | ${cells.join(' | ')} |`
  } finally {
    await knowledge.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** As people ask: some words are in many documents, some in few. */
function questions(word: () => string): () => string {
  return () => `how does ${word()} ${word()} do ${word()} ${word()}`
}
