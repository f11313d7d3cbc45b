import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { compileCache } from '../compile-cache.ts'
import type { KnowledgeFolder } from './folder.ts'

const child = join(import.meta.dirname, 'ingest-child.ts')
const longChild = join(import.meta.dirname, 'long-child.ts')

/** The tables of a new knowledge base's first collection, with their dimensions. */
export const vectorTables = [
  ['k1_v1', 128],
  ['k1_v1_hashed_ngrams_1', 1024],
] as const

export interface Acknowledged {
  source: string
  at: number
  chunk_count: number
}

/** Ingests in another process and kills it with SIGKILL after so many acknowledgements. */
export async function ingestUntilKilled(
  folder: string,
  from: number,
  acknowledgements: number,
): Promise<Acknowledged[]> {
  return untilKilled([child, folder, String(from)], acknowledgements)
}

/** Ingests the file in another process and kills it with SIGKILL once it has read so many pieces of 1 MB. */
export async function ingestLongUntilKilled(folder: string, path: string, pieces: number): Promise<void> {
  await untilKilled([longChild, folder, path], pieces)
}

async function untilKilled(args: readonly string[], acknowledgements: number): Promise<Acknowledged[]> {
  const process_ = spawn(process.execPath, ['--no-warnings', ...args], {
    env: { ...process.env, ...compileCache() },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: Acknowledged[] = []
  for await (const line of createInterface({ input: process_.stdout })) {
    acknowledged.push(JSON.parse(line))
    if (acknowledged.length === acknowledgements) process_.kill('SIGKILL')
  }
  if (process_.signalCode === null && process_.exitCode === null) await once(process_, 'exit')
  if (process_.signalCode !== 'SIGKILL') throw new Error(`the child ended by itself: ${process_.exitCode}`)
  return acknowledged
}

/** What is wrong with a knowledge base that was killed, once it was opened and closed again; empty when nothing is. */
export async function findDamage(place: KnowledgeFolder, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const knowledge = await place.open()
  while ((await knowledge.status()).pending > 0) await new Promise((resolve) => setImmediate(resolve))
  await knowledge.close()
  const documents = await Connection.open({
    path: join(place.folder, 'knowledge', 'knowledge.db'),
    readonly: false,
    busyTimeoutMs: 0,
  })
  const vectors = lanceVectors({ folder: join(place.folder, 'knowledge', 'vectors') })
  const wrong: string[] = []
  const none = async (what: string, sql: string) => {
    for (const row of await documents.all(sql)) wrong.push(`${what}: ${JSON.stringify(row)}`)
  }
  await none(
    'orphaned chunk',
    'SELECT chunk_key FROM chunk WHERE chunk_generation NOT IN (SELECT generation FROM document)',
  )
  await none(
    'document with chunks missing or too many',
    `SELECT source, chunk_count, (SELECT count(*) FROM chunk WHERE chunk_generation = generation) AS held
     FROM document WHERE chunk_count <> held`,
  )
  await none(
    'keyword index apart from the chunks',
    `SELECT id FROM words_1_docsize EXCEPT SELECT chunk_key FROM chunk
     UNION ALL SELECT chunk_key FROM chunk EXCEPT SELECT id FROM words_1_docsize`,
  )
  const rows = await documents.all('SELECT generation, source, chunk_count FROM document')
  for (const [name, dimensions] of vectorTables) {
    const counts = await (await vectors.table(name, dimensions)).counts()
    for (const { generation, source, chunk_count } of rows) {
      const held = counts.get(Number(generation)) ?? 0
      if (held !== chunk_count) wrong.push(`${source}: ${held} vectors in ${name} for ${chunk_count} chunks`)
      counts.delete(Number(generation))
    }
    for (const [generation, count] of counts)
      wrong.push(`${count} vectors in ${name} of generation ${generation}, which is gone`)
  }
  const newest = new Map(acknowledged.map((each) => [each.source, each]))
  for (const { source, at } of newest.values()) {
    const [found] = await documents.all(
      `SELECT min(content) AS content FROM chunk JOIN document ON generation = chunk_generation WHERE source = ?`,
      [source],
    )
    const version = Number(/version(\d+)/.exec(String(found?.content))?.[1] ?? -1)
    if (version < at) wrong.push(`${source}: version ${at} was acknowledged, version ${version} is there`)
  }
  await vectors.close()
  await documents.close()
  return wrong
}
