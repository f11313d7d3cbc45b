import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAppError } from '../../src/core/error.ts'
import type { Collection, DocumentStore } from '../../src/core/knowledge/document-store.ts'
import { readFilters } from '../../src/core/knowledge/filter.ts'
import { rowsOf } from '../support/knowledge/chunk-rows.ts'
import {
  chunksOf,
  compareFilters,
  embedding,
  fillForFilters,
  generationOf,
  reserve,
} from '../support/knowledge/filter-comparison.ts'
import type { Filterable } from '../support/knowledge/plain-filter.ts'

export const wordQuery = (...words: string[]) => ({
  find: words,
  score: words.map((word) => ({ words: [word], weight: 1 })),
  chunks: 100,
})

/** What every driver of documents does. `create` gives a store of this name, which is not open; the same name has the same data. */
export function testDocumentStore(driver: string, create: (name: string) => DocumentStore): void {
  describe(`the document store ${driver}`, () => {
    const stores: DocumentStore[] = []
    const open = async (name: string) => {
      const store = create(name)
      await store.open()
      stores.push(store)
      return store
    }
    afterAll(async () => {
      for (const store of stores) await store.close()
    })

    it('shows a generation only when it is published, and then all of it', async () => {
      const store = await open('publish.db')
      const { key } = await store.ensureCollection('c', embedding)
      const first = await reserve(store, 2)
      await store.addChunks(key, chunksOf(first, 0, 'anchor chain'))
      expect(await store.keyword(key, wordQuery('anchor'), {}, 10)).toEqual([])
      expect(await store.totals()).toEqual({ documents: 0, chunks: 0 })
      const published = generationOf(first.generation, { source: 's', chunk_count: 2 })
      await store.publish(key, [{ ...chunksOf(first, 1, 'anchor rope'), document: published }])
      expect((await store.keyword(key, wordQuery('anchor'), {}, 10)).map((hit) => hit.chunk)).toHaveLength(2)

      const second = await reserve(store, 1)
      const replacement = generationOf(second.generation, { source: 's' })
      await store.publish(key, [{ ...chunksOf(second, 0, 'sail'), document: replacement }])
      expect(await store.keyword(key, wordQuery('anchor'), {}, 10)).toEqual([])
      expect(await store.current(key, [first.firstChunk, second.firstChunk])).toHaveLength(1)
      await store.collect([first.generation, second.generation])
      expect(await store.chunksOf([first.generation], 0, 10)).toEqual([])
      expect(await store.chunksOf([second.generation], 0, 10)).toHaveLength(1)
      expect((await store.frequencies(key, ['chain', 'sail'], [' an'])).words).toEqual(new Map([['sail', 1]]))
    })

    it('changes the embedding of the version that is there, and of no other', async () => {
      const store = await open('embedding.db')
      const { key, version } = await store.ensureCollection('versions of c', embedding)
      const next = { ...embedding, model: 'next' }
      expect(await store.setEmbedding(key, next, version)).toMatchObject({ version: version + 1, embedding: next })
      await expect(store.setEmbedding(key, embedding, version)).rejects.toMatchObject({ code: 'unavailable' })
      expect(await store.findCollection('versions of c')).toMatchObject({ version: version + 1, embedding: next })
    })

    it('keeps the texts and words of each chunk of a commit apart, whatever characters they are of', async () => {
      const store = await open('texts.db')
      const { key } = await store.ensureCollection('c', embedding)
      const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
      const heading = fc.string({ unit: fc.constantFrom('a', 'é', '東', '🙂'), maxLength: 5 })
      const documents = fc.array(fc.array(fc.record({ text, heading }), { minLength: 1, maxLength: 4 }), {
        minLength: 1,
      })
      let made = 0
      await fc.assert(
        fc.asyncProperty(documents, fc.boolean(), async (given, haveWords) => {
          const places = await store.reserve(given.map((chunks) => chunks.length))
          const writes = given.map((chunks, at) => {
            const { generation, firstChunk } = places[at] ?? { generation: 0, firstChunk: 0 }
            const words = haveWords ? chunks.map((_, index) => `${made}ü_${at}_${index}`) : []
            const rows = rowsOf(
              chunks.map((chunk, index) => ({
                id: `chk_${firstChunk + index}`,
                index,
                content: chunk.text,
                headingPath: [chunk.heading],
                startOffset: index,
                endOffset: index + 1,
                lineStart: 1,
                lineEnd: 2,
                words: index % 2 === 0 ? (words[index] ?? '') : '',
                headingWords: index % 2 === 0 ? '' : (words[index] ?? ''),
              })),
            )
            const fields = { source: `s${made}-${at}`, chunk_count: chunks.length }
            return { generation, firstChunk, rows, newWords: [], document: generationOf(generation, fields), words }
          })
          made++
          await store.publish(key, writes)
          for (const [at, { generation, firstChunk, words }] of writes.entries()) {
            const stored = await store.chunksOf([generation], 0, 100)
            expect(stored.map(({ content, headingPath }) => [content, headingPath[0]])).toEqual(
              given[at]?.map((chunk) => [chunk.text, chunk.heading]),
            )
            for (const [index, word] of words.entries())
              expect((await store.keyword(key, wordQuery(word), {}, 10)).map(({ chunk }) => chunk)).toEqual([
                firstChunk + index,
              ])
          }
        }),
        { numRuns: 50 },
      )
    })

    it('reads the chunks of a document from one on, and those around one, as many as fit', async () => {
      const store = await open('read.db')
      const { key } = await store.ensureCollection('read', embedding)
      const place = await reserve(store, 3)
      for (const index of [0, 1]) await store.addChunks(key, chunksOf(place, index, `text ${index}`))
      const document = generationOf(place.generation, { source: 'read', chunk_count: 3 })
      await store.publish(key, [{ ...chunksOf(place, 2, 'text 2'), document }])
      const from = async (first: number, limit: number, maxBytes: number) =>
        (await store.chunksFrom(place.generation, first, limit, maxBytes)).map(({ index }) => index)
      expect(await from(1, 10, 1_000)).toEqual([1, 2])
      expect(await from(0, 2, 1_000)).toEqual([0, 1])
      expect(await from(1, 10, 1)).toEqual([1])
      const around = await store.chunksAround(`chk_${place.firstChunk + 1}`, 1, 1_000)
      expect(around.map(({ content }) => content)).toEqual(['text 0', 'text 1', 'text 2'])
    })

    it('knows a word that nobody had used when it was first asked for', async () => {
      const store = await open('late.db')
      const { key } = await store.ensureCollection('c', embedding)
      const publish = async (text: string) => {
        const place = await reserve(store, 1)
        const document = generationOf(place.generation, { source: 'log' })
        await store.publish(key, [{ ...chunksOf(place, 0, text), document }])
        await store.collect()
      }
      await publish('oil lamp')
      expect((await store.frequencies(key, ['electric'], ['ele'])).words).toEqual(new Map())
      await publish('electric lamp')
      const { words, trigrams } = await store.frequencies(key, ['electric'], ['ele'])
      expect([words.get('electric'), trigrams.has('ele')]).toEqual([1, true])
    })

    it('never gives a key twice, not even after it was opened again', async () => {
      const store = await open('keys.db')
      const taken: number[] = []
      for (const count of [1, 9_999, 3, 20_000, 1]) {
        const { firstChunk } = await reserve(store, count)
        taken.push(firstChunk, firstChunk + count - 1)
      }
      await store.close()
      const { firstChunk } = await reserve(await open('keys.db'), 1)
      expect([...taken].sort((one, other) => one - other)).toEqual(taken)
      expect(firstChunk).toBeGreaterThan(taken.at(-1) ?? 0)
    })

    it('finds words by what they share with another, those that share the most first', async () => {
      const store = await open('similar.db')
      const { key } = await store.ensureCollection('c', embedding)
      const place = await reserve(store, 1)
      const text = 'retention retentions detention rope 123456 ab'
      await store.publish(key, [{ ...chunksOf(place, 0, text), document: generationOf(place.generation) }])
      await store.publish(key, [{ ...chunksOf(await reserve(store, 1), 0, text), document: generationOf(99) }])
      expect(await store.similarWords(key, 'retenton', 3)).toEqual(['retention', 'retentions', 'detention'])
      expect(await store.similarWords(key, 'rope', 3)).toEqual([])
      expect(await store.similarWords(key, '123457', 3)).toEqual([])
    })

    it('finds the forms of a word, bounded, and none of a word that nobody wrote', async () => {
      const store = await open('inflections.db')
      const { key } = await store.ensureCollection('c', embedding)
      const text = `retry retries retried retrying retro use using settings setting ${'a'.repeat(60)} Größe strasse`
      const place = await reserve(store, 1)
      await store.publish(key, [{ ...chunksOf(place, 0, text), document: generationOf(place.generation) }])
      const found = await store.inflections(key, ['retries', 'uses', 'set', 'absent', "x'y", 'is', '日本'])
      expect(found.get('retries')?.toSorted()).toEqual(['retried', 'retry', 'retrying'])
      expect(found.get('uses')?.toSorted()).toEqual(['use', 'using'])
      expect(found.get('set')?.toSorted()).toEqual(['setting', 'settings'])
      expect([...found.keys()]).toEqual(['retries', 'uses', 'set'])
    })

    it('scores by all words what it found by some, and keeps what is too long to score after it', async () => {
      const store = await open('scored.db')
      const { key } = await store.ensureCollection('c', embedding)
      const texts = [
        'anchor rope',
        'anchor chain',
        `anchor ${'x '.repeat(250_000)}`,
        'chain rope',
        `anchor ${'y '.repeat(250_000)}`,
      ]
      const chunks: number[] = []
      for (const text of texts) {
        const place = await reserve(store, 1)
        await store.publish(key, [
          { ...chunksOf(place, 0, text), document: { ...generationOf(place.generation), source: text.slice(0, 20) } },
        ])
        chunks.push(place.firstChunk)
      }
      const query = { ...wordQuery('anchor', 'chain'), find: ['anchor'] }
      const found = (await store.keyword(key, query, {}, 10)).map(({ chunk }) => chunks.indexOf(chunk))
      expect(found.slice(0, 2)).toEqual([1, 0])
      expect(found.slice(2).toSorted()).toEqual([2, 4])
      expect(await store.keyword(key, query, {}, 1)).toHaveLength(1)
      const scores = (await store.keyword(key, query, {}, 10)).map(({ score }) => score)
      expect(scores).toEqual(scores.toSorted((one, other) => other - one))
    })

    describe('filters', () => {
      let store: DocumentStore
      let collection: Collection
      let documents: Map<number, Filterable>

      beforeAll(async () => {
        store = await open('filters.db')
        collection = await store.ensureCollection('c', embedding)
        documents = await fillForFilters(store, collection)
      })

      it('mean in SQL what they mean in plain JavaScript', async () => {
        expect(await compareFilters(store, collection, documents, 2_000)).toBeGreaterThan(2_000)
      })

      it('bind the keyword index', async () => {
        const filter = { chunker_type: 'code' }
        const found = await store.keyword(collection.key, wordQuery('word'), filter, 100)
        expect(found).toHaveLength([...documents.values()].filter(({ chunker_type }) => chunker_type === 'code').length)
      })

      it.each([
        [{ 'a b': 1 }, 'filters.a b'],
        [{ "a') OR 1=1 --": 1 }, "filters.a') OR 1=1 --"],
        [{ '1a': 1 }, 'filters.1a'],
        [{ ['k'.repeat(65)]: 1 }, `filters.${'k'.repeat(65)}`],
        [{ color: null }, 'filters.color'],
        [{ color: { $ne: 1 } }, 'filters.color.$ne'],
        [{ color: [['nested']] }, 'filters.color'],
        [{ color: Number.NaN }, 'filters.color'],
        [{ color: Array.from({ length: 65 }, () => 1) }, 'filters.color'],
        [['x'], 'filters'],
        ['x', 'filters'],
      ])('refuse %j', (filters, path) => {
        try {
          readFilters(filters)
          expect.unreachable()
        } catch (error) {
          expect(isAppError(error) && error.details[0]?.path).toBe(path)
        }
      })
    })
  })
}
