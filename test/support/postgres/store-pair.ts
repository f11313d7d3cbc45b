import { Client } from 'pg'
import { afterAll, afterEach, beforeEach } from 'vitest'
import type { SessionStore } from '../../../src/core/store.ts'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { emptiedSchema } from './emptied-schema.ts'
import { type PostgresProxy, startProxy } from './proxy.ts'

/** Two stores on one database before each test; the second one reaches it by way of a proxy. */
export interface StorePair {
  one(): SessionStore
  two(): SessionStore
  proxy(): PostgresProxy
  /** The rows of a statement in their schema. */
  rows<Row = Record<string, unknown>>(text: string, params?: unknown[]): Promise<Row[]>
}

export function storePair(): StorePair {
  const schema = emptiedSchema()
  let stores: SessionStore[] = []
  let proxy: PostgresProxy
  let client: Client
  beforeEach(async () => {
    const { url, name } = await schema.empty()
    proxy = await startProxy(url)
    client = new Client({ connectionString: url, options: `-c search_path=${name}` })
    await client.connect()
    stores = [url, proxy.url].map((address) => postgresStore({ url: address, schema: name }))
    for (const store of stores) await store.open()
  })
  afterEach(async () => {
    await proxy.heal()
    for (const store of stores) await store.close()
    await client.end()
    await proxy.stop()
  })
  afterAll(() => schema.drop())
  return {
    one: () => stores[0] as SessionStore,
    two: () => stores[1] as SessionStore,
    proxy: () => proxy,
    rows: async (text, params) => (await client.query(text, params)).rows,
  }
}
