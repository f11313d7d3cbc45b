import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { type SharedKnowledge, sharedKnowledge } from '../../support/knowledge/shared.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'

describePostgres('words that take the database too long', () => {
  let shared: SharedKnowledge
  beforeAll(async () => {
    shared = await sharedKnowledge()
  })
  afterAll(() => shared.close())

  /** Statements that read the table wait until the test ends. */
  const hold = async (table: string) => {
    const client = new Client({ connectionString: shared.place.url })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`BEGIN; LOCK TABLE ${shared.place.name}.${table}`)
  }
  const opened = async () => {
    const { knowledge } = await shared.open({ searchMs: 200 })
    await knowledge.ingest({ source: 'anchor.md', content: 'The anchor holds the boat.' })
    await knowledge.ingest({ source: 'bread.md', content: 'Bread needs flour and water.' })
    return knowledge
  }

  it.each(['chunk_words', 'term'])('leave a hybrid search with its vectors, and it says so: %s', async (table) => {
    const knowledge = await opened()
    expect((await knowledge.search({ query: 'anchor boat' })).skipped).toBeUndefined()
    await hold(table)
    const { results, mode, skipped, trace } = await knowledge.search({
      query: 'anchor boat',
      explain: true,
      trace: true,
    })
    expect(results[0]).toMatchObject({ source: 'anchor.md', explain: { keyword_rank: null } })
    expect(mode).toBe('hybrid')
    expect(skipped).toEqual([{ list: 'keyword', reason: expect.stringContaining('longer than 0.2 s') }])
    expect(trace?.words).toEqual([])
  })

  it.each(['hybrid', 'vector'] as const)(
    'leave the vectors of a server that has counted nothing yet: %s',
    async (mode) => {
      await opened()
      await hold('chunk_words')
      const { knowledge: other } = await shared.open({ searchMs: 200 })
      const { results } = await other.search({ query: 'anchor boat', mode, explain: true })
      expect(results[0]).toMatchObject({ source: 'anchor.md', explain: { vector_rank: 1 } })
    },
  )

  it('are not said to take long when somebody else has cancelled them', async () => {
    const { knowledge } = await shared.open({ searchMs: 60_000 })
    await knowledge.ingest({ source: 'anchor.md', content: 'The anchor holds the boat.' })
    await hold('chunk_words')
    const searching = knowledge.search({ query: 'anchor boat', mode: 'keyword' })
    const client = new Client({ connectionString: shared.place.url })
    await client.connect()
    onTestFinished(() => client.end())
    const cancelled = async () => {
      const { rows } = await client.query(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'agentserve searches' AND wait_event_type = 'Lock'`,
      )
      return rows.length
    }
    const refused = expect(searching).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database gave up the search for words: the statement was cancelled there. Retry in a moment.',
    })
    await expect.poll(cancelled).toBeGreaterThan(0)
    await refused
  })

  it('are an error of a search for words alone', async () => {
    const knowledge = await opened()
    await hold('chunk_words')
    await expect(knowledge.search({ query: 'anchor boat', mode: 'keyword' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('longer than 0.2 s'),
    })
  })
})
