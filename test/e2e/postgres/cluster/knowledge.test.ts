import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Instance, Instances } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

const config = `
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agent, defineConfig } from 'agentserve'

const notes = join(import.meta.dirname, 'notes')
mkdirSync(notes, { recursive: true })
writeFileSync(join(notes, 'first.md'), 'The lighthouse burns whale oil.')
const { LISTEN_URL } = process.env
export default defineConfig({
  server: {
    storage: { type: 'postgres', schema: 'agents', listenUrl: LISTEN_URL, cluster: { deadAfter: '5s' } },
    embedding: { provider: 'lexical' },
  },
  knowledge: { sources: ['notes'] },
  agents: { docs: agent({ knowledge: true }) },
})
`

describePostgres('instances that share a knowledge base', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  let instances: Instances
  ownInstances({ names: ['a', 'b', 'c'], config }, (all, opened) => {
    ;[a, b, c] = all
    instances = opened
  })

  const post = (at: Instance, path: string, body: object) =>
    fetch(`${at.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const search = async (at: Instance, query: string): Promise<string[]> => {
    const answer = await post(at, '/knowledge/search', { query, mode: 'keyword' })
    const { results = [] } = (await answer.json()) as { results?: { source: string }[] }
    return answer.ok ? results.map(({ source }) => source) : [`${answer.status}`]
  }
  const count = async (sql: string): Promise<number> => {
    const client = new Client({ connectionString: c.proxy.url })
    await client.connect()
    try {
      await client.query('SET search_path = agents')
      return Number((await client.query(sql)).rows[0].count)
    } finally {
      await client.end()
    }
  }

  test('find what the one of them that ingests is killed over, and nothing of halves', {
    timeout: 120_000,
  }, async () => {
    for (const instance of [a, b, c])
      await expect.poll(() => search(instance, 'lighthouse oil')).toEqual(['notes/first.md'])
    expect(await count("SELECT count(*) FROM document WHERE source = 'notes/first.md'")).toBe(1)
    // Only the first one can have the sources now.
    await Promise.all([b.stop(), c.stop()])
    await expect
      .poll(() => count(`SELECT count(*) FROM work JOIN knowledge_owner USING (owner_key) WHERE left_at IS NULL`), {
        timeout: 30_000,
      })
      .toBe(1)
    await Promise.all([b.start(), c.start()])
    const large = Array.from({ length: 20_000 }, (_, at) => `Sentence ${at} of the endless logbook.`).join('\n\n')
    const sent = post(a, '/knowledge/content', { source: 'logbook.md', content: large }).catch(() => undefined)
    await expect.poll(() => count('SELECT count(*) FROM generation_range')).toBeGreaterThan(0)
    await a.kill()
    const answer = await sent
    await writeFile(join(dirname(instances.effects), 'notes', 'second.md'), 'The harbour master counts the gulls.')
    // Whole, or not there.
    const stored = await count("SELECT count(*) FROM document WHERE source = 'logbook.md'")
    if (answer?.ok) expect(stored).toBe(1)
    for (const instance of [b, c])
      expect(await search(instance, 'endless logbook')).toEqual(
        stored === 1 ? expect.arrayContaining(['logbook.md']) : [],
      )
    for (const instance of [b, c])
      await expect.poll(() => search(instance, 'harbour gulls'), { timeout: 45_000 }).toEqual(['notes/second.md'])
    await expect
      .poll(() => count('SELECT count(*) FROM chunk WHERE chunk_generation NOT IN (SELECT generation FROM document)'), {
        timeout: 30_000,
      })
      .toBe(0)
    expect(await count("SELECT count(*) FROM document WHERE source = 'notes/first.md'")).toBe(1)
  })

  test('refuse while the database is away, and continue without a restart', { timeout: 90_000 }, async () => {
    onTestFinished(() => b.proxy.heal())
    await b.proxy.refuse()
    b.proxy.cut()
    const refused = await post(b, '/knowledge/search', { query: 'lighthouse', mode: 'keyword' })
    expect(refused.status).toBe(503)
    const unwritten = await post(b, '/knowledge/content', { source: 'late.md', content: 'Too late.' })
    expect(unwritten.status).toBe(503)
    await b.proxy.heal()
    await expect
      .poll(async () => (await post(b, '/knowledge/content', { source: 'late.md', content: 'In time.' })).ok, {
        timeout: 30_000,
      })
      .toBe(true)
    expect(await search(c, 'in time')).toEqual(['late.md'])
  })
})
