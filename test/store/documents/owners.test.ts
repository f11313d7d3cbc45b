import { Client } from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Timers } from '../../../src/core/time.ts'
import { type KnowledgeDatabaseOptions, knowledgeDatabase } from '../../../src/store/documents/postgres/database.ts'
import { postgresDocuments } from '../../../src/store/documents/postgres/store.ts'
import { wordKey } from '../../../src/store/documents/postgres/word-counts.ts'
import { wordQuery } from '../../contract/document-store.ts'
import { chunksOf, embedding, generationOf, reserve } from '../../support/knowledge/filter-comparison.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'

/** A process that stands still tells nobody that it lives. */
const still: Timers = { set: () => ({ refresh: () => {}, unref: () => {} }), clear: () => {} }

/** How many timers wait at a time. */
function counted(): { timers: Timers; waiting: () => number } {
  const all = new Set<unknown>()
  return {
    waiting: () => all.size,
    timers: {
      set(callback, ms) {
        const timer = setTimeout(() => {
          all.delete(timer)
          callback()
        }, ms)
        all.add(timer)
        return timer
      },
      clear(timer) {
        all.delete(timer)
        clearTimeout(timer as NodeJS.Timeout | undefined)
      },
    },
  }
}

describePostgres('processes that write documents', () => {
  let place: Place
  let client: Client
  beforeAll(async () => {
    place = (await testPostgres()).newSchema()
    client = new Client({ connectionString: place.url })
    await client.connect()
    await client.query(`SET search_path = ${place.name}`)
  })
  afterAll(async () => {
    await client.end()
    await place.drop()
  })

  const open = async (options: Partial<KnowledgeDatabaseOptions> = {}) => {
    const { url, name: schema } = place
    const store = postgresDocuments(knowledgeDatabase({ url, schema, deadAfterMs: 400, ...options }))
    await store.open()
    onTestFinished(() => store.close())
    return store
  }
  const rows = async (sql: string): Promise<number> => Number((await client.query(sql)).rows[0].count)
  const ofGeneration = (generation: number) => rows(`SELECT count(*) FROM chunk WHERE chunk_generation = ${generation}`)

  it('tell that they live while short works wait for each other and for locks', async () => {
    const quick: Timers = {
      set: (callback) => setTimeout(callback, 10),
      clear: (timer) => clearTimeout(timer as never),
    }
    const store = await open({ timers: quick, deadAfterMs: 60_000 })
    await reserve(store, 1)
    const key = await rows('SELECT max(owner_key) AS count FROM knowledge_owner')
    const beats = () => rows(`SELECT beat AS count FROM knowledge_owner WHERE owner_key = ${key}`)
    await expect.poll(beats).toBeGreaterThan(1)
    const holder = new Client({ connectionString: place.url })
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query(`BEGIN; LOCK TABLE ${place.name}.work`)
    const waiting = Promise.allSettled(['a', 'b', 'c'].map((name) => store.works?.take(name)))
    const isWaiting = () =>
      rows(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO work%'`)
    await expect.poll(isWaiting).toBe(1)
    const before = await beats()
    await expect.poll(beats).toBeGreaterThan(before + 5)
    await holder.query('ROLLBACK')
    expect((await waiting).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  })

  it('keep what a living one is writing, and remove what a dead one has begun, which can not publish then', async () => {
    const [dead, living] = [await open({ timers: still }), await open()]
    const { key } = await living.ensureCollection('c', embedding)
    const [begun, own] = [await reserve(dead, 2), await reserve(living, 2)]
    await dead.addChunks(key, chunksOf(begun, 0, 'half written'))
    await living.addChunks(key, chunksOf(own, 0, 'being written'))
    await expect.poll(() => ofGeneration(begun.generation)).toBe(0)
    expect(await ofGeneration(own.generation)).toBe(1)
    const late = { ...chunksOf(begun, 1, 'half written'), document: generationOf(begun.generation, { chunk_count: 2 }) }
    await expect(dead.publish(key, [late])).rejects.toMatchObject({ code: 'unavailable' })
    expect(await living.keyword(key, wordQuery('half'), {}, 10)).toEqual([])
    await living.publish(key, [
      { ...chunksOf(own, 1, 'being written'), document: generationOf(own.generation, { chunk_count: 2 }) },
    ])
    expect(await living.keyword(key, wordQuery('being'), {}, 10)).toHaveLength(2)
    // It goes on under another name.
    const again = await reserve(dead, 1)
    await dead.publish(key, [{ ...chunksOf(again, 0, 'anew'), document: generationOf(again.generation) }])
    expect(await living.keyword(key, wordQuery('anew'), {}, 10)).toHaveLength(1)
  })

  it('can not publish what was removed while they were taken for dead, also not under another name', async () => {
    const [dead, living] = [await open({ timers: still }), await open()]
    const { key } = await living.ensureCollection('removed', embedding)
    const [begun] = [await reserve(dead, 2), await reserve(living, 1)]
    await dead.addChunks(key, chunksOf(begun, 0, 'removed half'))
    await expect.poll(() => ofGeneration(begun.generation)).toBe(0)
    // Something else tells it before the document does.
    await expect(dead.works?.take('other')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await dead.works?.take('other')).toBe(true)
    const late = chunksOf(begun, 1, 'late half')
    await expect(dead.addChunks(key, late)).rejects.toMatchObject({ code: 'unavailable' })
    const document = generationOf(begun.generation, { source: 'removed', chunk_count: 2 })
    await expect(dead.publish(key, [{ ...late, document }])).rejects.toMatchObject({ code: 'unavailable' })
    expect(await living.keyword(key, wordQuery('half'), {}, 10)).toEqual([])
  })

  it('tell that they live by one timer, also after they were taken for dead', async () => {
    const { timers, waiting } = counted()
    const store = await open({ timers, deadAfterMs: 1_000 })
    await reserve(store, 1)
    for (let times = 0; times < 3; times++) {
      await client.query('UPDATE knowledge_owner SET dead_at = now() WHERE dead_at IS NULL')
      await expect(store.works?.take('any')).rejects.toMatchObject({ code: 'unavailable' })
      expect(await store.works?.take('any')).toBe(true)
    }
    const beats = () => rows('SELECT max(beat) AS count FROM knowledge_owner')
    await expect.poll(beats).toBeGreaterThan(1)
    expect(waiting()).toBeLessThanOrEqual(1)
    await store.close()
    expect(waiting()).toBe(0)
  })

  it('remove in the end what one had begun that goes while another sweeps', async () => {
    const going = await open({ timers: still })
    const { key } = await going.ensureCollection('swept', embedding)
    const begun = await reserve(going, 2)
    await going.addChunks(key, chunksOf(begun, 0, 'left over'))
    const { url, name: schema } = place
    const database = knowledgeDatabase({ url, schema })
    const all: typeof database.read.all = async (text, params, plan) => {
      const found = await database.read.all(text, params, plan)
      if (text.includes('JOIN chunk ON')) await client.query('UPDATE knowledge_owner SET left_at = now()')
      return found as never
    }
    const sweeping = postgresDocuments({ ...database, read: { ...database.read, all } })
    await sweeping.open()
    onTestFinished(() => sweeping.close())
    for (let times = 0; times < 2; times++) await sweeping.collect()
    expect(await ofGeneration(begun.generation)).toBe(0)
  })

  it('keep what a dead one has published', async () => {
    const [dead, living] = [await open({ timers: still }), await open()]
    const { key } = await living.ensureCollection('c', embedding)
    const place = await reserve(dead, 1)
    await dead.publish(key, [
      { ...chunksOf(place, 0, 'lasting'), document: generationOf(place.generation, { source: 'l' }) },
    ])
    await reserve(living, 1)
    await expect.poll(() => rows('SELECT count(*) FROM knowledge_owner WHERE dead_at IS NOT NULL')).toBe(0)
    await expect
      .poll(() =>
        rows(
          `SELECT count(*) FROM generation_range WHERE ${place.generation} BETWEEN first_generation AND last_generation`,
        ),
      )
      .toBe(0)
    expect(await living.keyword(key, wordQuery('lasting'), {}, 10)).toHaveLength(1)
  })

  it('take work from one that is dead or has left, and from nobody else', async () => {
    const [dead, living, other] = [await open({ timers: still }), await open(), await open()]
    expect(await dead.works?.take('watch')).toBe(true)
    expect(await living.works?.take('watch')).toBe(false)
    await dead.works?.tell('watch', { done: 1 })
    expect(await living.works?.told('watch')).toEqual({ done: 1 })
    await expect.poll(() => living.works?.take('watch')).toBe(true)
    await expect(dead.works?.tell('watch', { done: 2 })).rejects.toMatchObject({ code: 'unavailable' })
    expect(await other.works?.take('watch')).toBe(false)
    await living.close()
    expect(await other.works?.told('watch')).toBeUndefined()
    expect(await other.works?.take('watch')).toBe(true)
    await other.works?.release('watch')
    expect(await other.works?.told('watch')).toBeUndefined()
  })

  it('tells one that publishes for an older version of the collection', async () => {
    const [one, other] = [await open(), await open()]
    const { key, version } = await one.ensureCollection('versions', embedding)
    const place = await reserve(one, 1)
    await other.setEmbedding(key, { ...embedding, model: 'n' }, version)
    await expect(one.setEmbedding(key, { ...embedding, model: 'o' }, version)).rejects.toThrow(/just reindexed/)
    const document = generationOf(place.generation, { source: 'v' })
    const publish = (of: number) => one.publish(key, [{ ...chunksOf(place, 0, 'text'), document }], of)
    await expect(publish(version)).rejects.toThrow(/just reindexed/)
    expect(await publish(version + 1)).toEqual([{ documentId: document.document_id, replaced: undefined }])
    expect(await one.findCollection('versions')).toMatchObject({ version: version + 1, embedding: { model: 'n' } })
  })

  it('keeps texts that columns and words that indexes can not hold', async () => {
    const store = await open()
    const { key } = await store.ensureCollection('hostile', embedding)
    const lone = 'a\ud800b\u0000c\u0001d'
    const long = 'w'.repeat(100_000)
    const text = `${'x'.repeat(1_000_000)} ${long} \u0000 word`
    const place = await reserve(store, 1)
    const document = generationOf(place.generation, {
      source: lone,
      name: lone,
      media_type: 'text/\u0000',
      metadata: { key: lone, [lone]: [lone, 1] },
      reader_metadata: { '\u0000': '\udfff' },
    })
    await store.publish(key, [{ ...chunksOf(place, 0, text), document }])
    const stored = await store.getDocument(document.document_id)
    expect(stored).toMatchObject({ source: lone, name: lone, media_type: 'text/\u0000', metadata: document.metadata })
    expect((await store.chunksOf([place.generation], 0, 1))[0]?.content).toBe(text)
    expect(await store.keyword(key, wordQuery('word'), { key: lone }, 1)).toHaveLength(1)
    expect(await store.keyword(key, wordQuery(long), { source: lone }, 1)).toHaveLength(1)
    expect((await store.findBySources(key, [lone])).get(lone)?.document_id).toBe(document.document_id)
    await store.changeBrought('hostile', [lone, 'b'], [])
    await store.changeBrought('hostile', [], ['b'])
    expect(await store.brought('hostile')).toEqual([lone])
    // Of no use to others: a filter of theirs does not fail because of it.
    expect(await store.matching(key, { key: 'x', other: { gte: '2026-01-01' } })).toEqual([])
  })

  it('bring the index of words up to date after a write, at the latest when they close', async () => {
    const store = await open()
    const { key } = await store.ensureCollection('tidy', embedding)
    const place = await reserve(store, 1)
    await store.publish(key, [{ ...chunksOf(place, 0, 'tidyword'), document: generationOf(place.generation) }])
    await store.close()
    expect(await rows("SELECT gin_clean_pending_list('chunk_words_by_word') AS count")).toBe(0)
    expect(await rows("SELECT gin_clean_pending_list('term_by_trigram') AS count")).toBe(0)
  })

  it('forget words that only deleted documents had', async () => {
    const store = await open()
    const { key } = await store.ensureCollection('forgotten', embedding)
    const place = await reserve(store, 1)
    const document = generationOf(place.generation, { source: 'f' })
    await store.publish(key, [{ ...chunksOf(place, 0, 'secretword'), document }])
    expect(await rows("SELECT count(*) FROM term WHERE word = 'secretword'")).toBe(1)
    const { generation } = await store.deleteDocument(document.document_id)
    await store.collect([generation])
    await expect.poll(() => rows("SELECT count(*) FROM term WHERE word = 'secretword'")).toBe(0)
    const own = wordKey(key, 'secretword')
    expect(await rows(`SELECT count(*) FROM chunk_words WHERE words @> ARRAY[${own}::bigint]`)).toBe(0)
  })
})
