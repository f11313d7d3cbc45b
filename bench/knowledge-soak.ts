import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDocumentStore } from '../src/store/documents/store.ts'
import { findUploadDamage } from '../test/support/hostile/uploads.ts'
import { compareFilters, embedding, fillForFilters } from '../test/support/knowledge/filter-comparison.ts'
import { knowledgeFolder } from '../test/support/knowledge/folder.ts'
import { findDamage, ingestUntilKilled } from '../test/support/knowledge/kills.ts'

/** Kills ingestion so often at random places; says what a later start finds wrong. */
export async function knowledgeKills(kills: number): Promise<boolean> {
  const place = await knowledgeFolder()
  const wrong: string[] = []
  try {
    for (let round = 0; round < kills; round++) {
      const acknowledged = await ingestUntilKilled(place.folder, round * 100, 1 + Math.floor(Math.random() * 60))
      wrong.push(...(await findDamage(place, acknowledged)).map((what) => `kill ${round + 1}: ${what}`))
    }
  } finally {
    await place.remove()
  }
  for (const what of wrong) console.error(what)
  console.log(`${kills} kills during ingestion: ${wrong.length} orphans, doubles or losses`)
  return wrong.length === 0
}

/** Compares random filters with the reference evaluator. */
export async function filterComparisons(count: number): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'filters-'))
  const store = createDocumentStore({ path: join(folder, 'filters.db') })
  try {
    await store.open()
    const collection = await store.ensureCollection('c', embedding)
    const documents = await fillForFilters(store, collection)
    const matched = await compareFilters(store, collection, documents, count)
    console.log(`${count} random filters mean the same in SQL and in the reference; they matched ${matched} times`)
    return true
  } catch (error) {
    console.error(error)
    return false
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Posts broken uploads. */
export async function brokenUploads(count: number): Promise<boolean> {
  const { wrong, statuses } = await findUploadDamage(count)
  for (const what of wrong) console.error(what)
  console.log(`${count} broken uploads: ${JSON.stringify(statuses)}, ${wrong.length} wrong`)
  return wrong.length === 0
}
