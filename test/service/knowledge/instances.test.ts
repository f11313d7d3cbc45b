import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SharedKnowledge, sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

describePostgres('servers that share a knowledge base', () => {
  let shared: SharedKnowledge
  beforeAll(async () => {
    shared = await sharedKnowledge()
  })
  afterAll(() => shared.close())

  const count = async (sql: string): Promise<number> => {
    const client = new Client({ connectionString: shared.place.url })
    await client.connect()
    try {
      await client.query(`SET search_path = ${shared.place.name}`)
      return Number((await client.query(sql)).rows[0].count)
    } finally {
      await client.end()
    }
  }

  it('find at once what another has ingested, and not what it has deleted', async () => {
    const [one, other] = [await shared.open(), await shared.open()]
    const { document_id } = await one.knowledge.ingest({ source: 'a.md', content: 'The anchor holds the boat.' })
    const hits = async (mode: 'hybrid' | 'keyword' | 'vector') =>
      (await other.knowledge.search({ query: 'anchor boat', mode })).results.map(({ source }) => source)
    for (const mode of ['hybrid', 'keyword', 'vector'] as const) expect(await hits(mode)).toContain('a.md')
    await other.knowledge.deleteDocument(document_id)
    for (const mode of ['hybrid', 'keyword', 'vector'] as const) expect(await hits(mode)).toEqual([])
    expect((await one.knowledge.search({ query: 'anchor boat' })).results).toEqual([])
  })

  it('ingest one source at once: one document is left, with one version', async () => {
    const servers = await Promise.all([shared.open(), shared.open(), shared.open()])
    const rounds = Array.from({ length: 8 }, (_, round) => round)
    for (const round of rounds) {
      const results = await Promise.all(
        servers.map(({ knowledge }, at) =>
          knowledge.ingest({
            source: 'contested.md',
            content: `Round ${round}: server ${at} has written this sentence.`,
          }),
        ),
      )
      expect(new Set(results.map(({ document_id }) => document_id)).size).toBe(1)
    }
    const [one] = servers
    const { items } = await (one as (typeof servers)[0]).knowledge.listDocuments(
      { source: 'contested.md' },
      { limit: 10 },
    )
    expect(items).toHaveLength(1)
    await one?.documents.collect()
    expect(
      await count(`SELECT count(*) FROM chunk JOIN document ON document.generation = chunk_generation
      WHERE source = 'contested.md'`),
    ).toBe(1)
    expect(
      await count('SELECT count(*) FROM chunk WHERE chunk_generation NOT IN (SELECT generation FROM document)'),
    ).toBe(0)
    expect(await count('SELECT count(*) FROM retired')).toBe(0)
  })

  it('reindex one at a time, while the others search and ingest, and all use the new vectors', async () => {
    const [one, other, third] = await Promise.all([shared.open(), shared.open(), shared.open()])
    for (let at = 0; at < 30; at++)
      await one.knowledge.ingest({ source: `doc-${at}.md`, content: `Page ${at} tells of harbour number ${at}.` })
    const ended = new AbortController()
    let searches = 0
    let ingested = 0
    const searching = (async () => {
      while (!ended.signal.aborted) {
        const { results } = await other.knowledge.search({ query: 'harbour number 7', mode: 'hybrid' })
        expect(results.length).toBeGreaterThan(0)
        searches++
      }
    })()
    const ingesting = (async () => {
      while (!ended.signal.aborted)
        await third.knowledge.ingest({ source: `more-${ingested++}.md`, content: `More ${ingested} of the harbour.` })
    })()
    const asked = await Promise.allSettled([one.knowledge.reindex(), third.knowledge.reindex()])
    const again = await one.knowledge.reindex({ embedder: 'lexical' })
    ended.abort()
    await Promise.all([searching, ingesting])
    expect(asked.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(1)
    for (const result of asked)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' })
    expect(searches).toBeGreaterThan(0)
    expect(again.pending).toBe(0)
    for (const { knowledge } of [one, other, third]) {
      expect((await knowledge.status()).pending).toBe(0)
      const { results } = await knowledge.search({ query: `more ${ingested} harbour`, mode: 'vector', limit: 5 })
      expect(results.length).toBe(5)
    }
    // The vectors of earlier versions are gone.
    expect(await count('SELECT count(DISTINCT version) FROM vector_list')).toBe(1)
  })
})
