import { Client } from 'pg'
import { expect, test } from 'vitest'
import type { Instance } from '../../../support/cluster/instances.ts'
import { ownInstances } from '../../../support/cluster/own-instances.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
const { LISTEN_URL } = process.env
export default defineConfig({
  server: {
    storage: { type: 'postgres', schema: 'agents', listenUrl: LISTEN_URL, cluster: { deadAfter: '5s' } },
    embedding: { provider: 'lexical' },
  },
  agents: { docs: agent({ knowledge: true }) },
})
`
type Row = Record<string, unknown>
type Answer = Record<string, unknown> & { results?: unknown[] }

const documents = 12
const paragraphs = 400

describePostgres('instances of which one is killed while it writes all vectors anew', () => {
  let [a, b, c] = [] as unknown as [Instance, Instance, Instance]
  ownInstances({ names: ['a', 'b', 'c'], config }, (all) => {
    ;[a, b, c] = all
  })

  const ask = async (at: Instance, path: string, body?: object): Promise<{ status: number; body: Answer }> => {
    const answer = await fetch(`${at.url}/api/v1${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Answer }
  }
  const rows = async (sql: string): Promise<Row[]> => {
    const client = new Client({ connectionString: c.proxy.url })
    await client.connect()
    try {
      await client.query('SET search_path = agents')
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  const count = async (sql: string) => Number((await rows(sql))[0]?.count)
  const versions = async () =>
    (await rows('SELECT DISTINCT version FROM vector_list ORDER BY version')).map(({ version }) => version)
  const tables = async () =>
    (
      await rows(`SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = 'agents' AND relkind = 'r' AND relname LIKE 'vec\\_%' ORDER BY relname`)
    ).map(({ relname }) => relname)
  const found = async (at: Instance) => {
    const { body } = await ask(at, '/knowledge/search', { query: 'harbour of document 7', mode: 'vector', limit: 5 })
    return body.results?.length
  }
  const fill = async () => {
    for (let number = 0; number < documents; number++) {
      const content = Array.from(
        { length: paragraphs },
        (_, at) => `Paragraph ${at} is about the harbour of document ${number}. ${'It goes on. '.repeat(20)}`,
      ).join('\n\n')
      expect((await ask(a, '/knowledge/content', { source: `${number}.md`, content })).status).toBe(201)
    }
  }
  /** Reindexes on `at`, which is slow, and kills it once it has written some vectors. */
  const killAmid = async (at: Instance, version: number) => {
    at.proxy.delay(40)
    const asked = ask(at, '/knowledge/reindex', {}).catch(() => undefined)
    const written = async () => {
      const names = await rows(`SELECT list_name FROM vector_list WHERE version = ${version}`)
      const [first] = names
      return first ? count(`SELECT count(*) FROM "vec_${first.list_name}"`) : 0
    }
    await expect.poll(written, { timeout: 30_000, interval: 20 }).toBeGreaterThan(0)
    await at.kill()
    expect((await asked)?.status).not.toBe(200)
    at.proxy.delay(0)
  }

  test('search the old vectors, drop the new ones, and take the work over', { timeout: 180_000 }, async () => {
    await fill()
    const chunks = await count('SELECT count(*) FROM chunk')
    for (const at of [b, c]) expect(await found(at)).toBe(5)
    expect(await versions()).toEqual([1])
    const before = await tables()

    await killAmid(a, 2)
    expect(await versions()).toEqual([1, 2])
    for (const at of [b, c]) expect(await found(at)).toBe(5)
    expect((await ask(b, '/knowledge/reindex', {})).status).toBe(409)
    // Nobody asks for it again: what it has left goes by itself.
    await expect.poll(versions, { timeout: 45_000 }).toEqual([1])
    expect(await tables()).toEqual(before)
    for (const at of [b, c]) expect(await found(at)).toBe(5)

    await a.start()
    await killAmid(b, 2)
    await expect
      .poll(async () => (await ask(c, '/knowledge/reindex', {})).status, { timeout: 45_000, interval: 500 })
      .toBe(200)
    expect(await versions()).toEqual([2])
    for (const at of [a, c]) {
      expect(await found(at)).toBe(5)
      expect((await ask(at, '/knowledge/status')).body).toMatchObject({ documents, pending: 0, vectors: chunks })
    }
    expect(await rows("SELECT name FROM work WHERE name LIKE '%reindex%'")).toEqual([])
    expect(await count('SELECT count(*) FROM chunk')).toBe(chunks)
  })
})
