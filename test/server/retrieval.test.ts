import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/core/event.ts'
import type { RunTrace } from '../../src/core/events/trace.ts'
import type { Retrieval } from '../../src/core/knowledge/retrieval.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { answer, callTool, scripted } from '../runnables/fixture.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

/** A chapter of its own per lamp, so that many chunks are found and each has its place. */
const lamps = Array.from({ length: 30 }, (_, at) => `## Lamp ${at}\n\nThe keeper lights lamp ${at} at dusk.\n`)
const guide = `# Lamps\n\n${lamps.join('\n')}`

let server: RunningTestServer
beforeAll(async () => {
  server = await startServer(
    {},
    {
      reader: agent({ model: always('Lit [1].'), knowledge: { limit: 3, filters: { kind: 'guide' } } }),
      greedy: agent({ model: always('Lit.'), knowledge: { limit: 25 } }),
      seeker: agent({
        model: scripted(callTool('search_knowledge', { query: 'lamp keeper' }), answer('Dusk [1].')),
        knowledge: { mode: 'tool', limit: 2 },
      }),
      own: agent({
        async *run({ text, knowledge }) {
          const found = await knowledge?.search({ query: text })
          yield `${found?.results.length} found`
        },
      }),
      tells: agent({
        async *run({ text }) {
          yield { type: 'retrieval', query: 'lamp', results: JSON.parse(text) }
          yield { type: 'source', index: 1, source: 'a.md', document_id: 'doc_1', chunk_id: 'chk_1', line_start: 3 }
          yield 'Lit.'
        },
      }),
    },
  )
  const metadata = { kind: 'guide' }
  await server.call('POST', '/api/v1/knowledge/content', {
    source: 'lamps.md',
    content: guide,
    metadata,
    chunk_size: 60,
  })
})
afterAll(() => server.close())

function always(text: string): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          for (const part of answer(text)) controller.enqueue(part)
          controller.close()
        },
      }),
    }),
  })
}

async function ask(id: string, message: string) {
  return (await server.call('POST', `/api/v1/agents/${id}/run`, { input: message })).json
}

async function trace(id: string, message: string): Promise<RunTrace> {
  return (await server.call('GET', `/api/v1/runs/${(await ask(id, message)).run_id}/trace`)).json
}

async function events(id: string, message: string): Promise<RunEvent[]> {
  const json = await ask(id, message)
  const { text } = await server.call('GET', `/api/v1/runs/${json.run_id}/events`)
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
}

async function retrievalOf(id: string, message: string): Promise<Retrieval> {
  const found = (await events(id, message)).find((event) => event.type === 'retrieval')
  if (found === undefined) throw new Error('no retrieval was recorded')
  return found
}

describe('the record of a search', () => {
  it('says how it was made, and for each chunk its place in each list and whether the model got it', async () => {
    const { results, ...about } = await retrievalOf('reader', 'Who lights lamp 7 at dusk?')
    expect(about).toMatchObject({
      query: 'Who lights lamp 7 at dusk?',
      collection: 'default',
      mode: 'hybrid',
      limit: 3,
      filters: { kind: 'guide' },
      words: expect.arrayContaining(['lamp', '7', 'dusk']),
      duration_ms: expect.any(Number),
    })
    expect(about.duration_ms).toBeGreaterThan(0)
    expect(about).not.toHaveProperty('abstained')
    expect(results).toHaveLength(20)
    expect(results.filter(({ told }) => told)).toHaveLength(3)
    expect(results.map(({ rank }) => rank)).toEqual(results.map((_, at) => at + 1))
    const scores = results.map(({ score }) => score)
    expect(scores).toEqual(scores.toSorted((one, other) => other - one))
    for (const result of results) {
      expect(result).toMatchObject({ source: 'lamps.md', document_id: expect.stringMatching(/^doc_/) })
      expect(result.line_end).toBeGreaterThanOrEqual(result.line_start ?? Number.NaN)
      expect(Object.keys(result.lists ?? {}).every((name) => ['keyword', 'static', 'lexical'].includes(name))).toBe(
        true,
      )
      expect(result).not.toHaveProperty('weight')
    }
  })

  it('has the same places and scores as an explained search', async () => {
    const query = 'Who lights lamp 7 at dusk?'
    const { results } = await retrievalOf('reader', query)
    const { json } = await server.call('POST', '/api/v1/knowledge/search', { query, limit: 3, explain: true })
    const told = results.filter((result) => result.told)
    expect(told.map(({ chunk_id }) => chunk_id)).toEqual(json.results.map((hit: { chunk_id: string }) => hit.chunk_id))
    for (const [at, { explain, score }] of json.results.entries()) {
      expect(told[at]?.score).toBe(score)
      expect(told[at]?.lists?.keyword?.rank ?? null).toBe(explain.keyword_rank)
      expect(told[at]?.lists?.keyword?.score ?? null).toBe(explain.keyword_score)
      expect(told[at]?.lists?.static?.rank ?? null).toBe(explain.vector_rank)
      expect(told[at]?.lists?.static?.score ?? null).toBe(explain.vector_score)
      expect(told[at]?.lists).toEqual(explain.lists)
    }
    const asTold = results.map(({ told: _, ...candidate }) => candidate)
    expect(json.trace).toMatchObject({ collection: 'default', candidates: asTold })
    const plain = await server.call('POST', '/api/v1/knowledge/search', { query, limit: 3 })
    expect(plain.json).not.toHaveProperty('trace')
    expect(plain.json.results[0]).not.toHaveProperty('explain')
  })

  it('has every passage that was given, however many', async () => {
    const { results } = await retrievalOf('greedy', 'Which lamp does the keeper light?')
    expect(results.filter(({ told }) => told)).toHaveLength(25)
    expect(results.length).toBe(25)
  })

  it('is made by the tool of the model too', async () => {
    const { query, limit, results } = await retrievalOf('seeker', 'When?')
    expect({ query, limit }).toEqual({ query: 'lamp keeper', limit: 2 })
    expect(results.filter(({ told }) => told)).toHaveLength(2)
    expect(results.length).toBeGreaterThan(2)
  })

  it('says what an answer without a model quotes', async () => {
    const all = await events('docs', 'Who lights lamp 7 at dusk?')
    const sources = all.filter((event) => event.type === 'source').map(({ chunk_id }) => chunk_id)
    const told = all.find((event) => event.type === 'retrieval')?.results.filter((result) => result.told)
    expect(sources.length).toBeGreaterThan(0)
    expect(told?.map(({ chunk_id }) => chunk_id).toSorted()).toEqual(sources.toSorted())
  })

  it('says why an answer without a model quotes nothing although something was found', async () => {
    const { results, abstained, fit } = await retrievalOf('docs', 'Which lamp won the world cup of football in Mexico?')
    expect(results.length).toBeGreaterThan(0)
    expect(results.some(({ told }) => told)).toBe(false)
    expect(abstained).toMatchObject({ reason: expect.stringContaining('passage'), threshold: 0.5 })
    expect(abstained?.score).toBeLessThan(0.5)
    expect(fit).toMatchObject({ score: abstained?.score, threshold: 0.5, chunks: expect.any(Number) })
    const chunksOf = (asked: string) => fit?.words.find(({ word }) => word === asked)?.chunks
    expect([chunksOf('football'), chunksOf('lamp')]).toEqual([0, expect.any(Number)])
    expect(chunksOf('lamp')).toBeGreaterThan(0)
  })

  it('is not made of a search in the code of the agent', async () => {
    const types = (await events('own', 'lamp')).map(({ type }) => type)
    expect(types).not.toContain('retrieval')
  })
})

describe('the trace of a run', () => {
  it('has all that was recorded of a search, with the numbers of the prompt', async () => {
    const { calls, retrievals } = await trace('reader', 'Who lights lamp 7 at dusk?')
    expect(retrievals).toEqual([])
    const { passages = [], ...about } = calls[0]?.retrievals[0] ?? expect.fail()
    expect(about).toMatchObject({ mode: 'hybrid', limit: 3, collection: 'default', duration_ms: expect.any(Number) })
    expect(passages).toHaveLength(20)
    expect(passages.filter(({ told }) => told).map(({ index }) => index)).toEqual([1, 2, 3])
    expect(passages.filter(({ told }) => !told).map(({ index }) => index)).toEqual(Array(17).fill(null))
    expect(passages.every(({ lists }) => Object.keys(lists ?? {}).length > 0)).toBe(true)
  })

  it('has the searches that no model call follows', async () => {
    const { calls, retrievals } = await trace('tells', '[{"chunk_id":"chk_1","source":"a.md","score":0.5,"told":true}]')
    expect(calls).toEqual([])
    expect(retrievals).toMatchObject([{ query: 'lamp', passages: [{ chunk_id: 'chk_1', index: 1, told: true }] }])
  })

  it('has no more of a record of an earlier version than that has', async () => {
    const { retrievals } = await trace('tells', '[{"chunk_id":"chk_2","source":"b.md","score":0.5}]')
    expect(retrievals).toEqual([
      { query: 'lamp', passages: [{ chunk_id: 'chk_2', source: 'b.md', score: 0.5, index: null }] },
    ])
  })
})

it.each([
  { rank: 'first' },
  { rank: 1.5 },
  { told: 'yes' },
  { lists: [] },
  { lists: { keyword: 1 } },
  { lists: { keyword: { rank: 1, score: null } } },
  { weight: '2' },
  { line_start: '1' },
  { document_id: 7 },
])('a run that tells of a passage with %j fails', async (wrong) => {
  const run = await ask('tells', JSON.stringify([{ chunk_id: 'chk_1', source: 'a.md', score: 1, ...wrong }]))
  expect(run).toMatchObject({ error: { code: 'run_failed', message: expect.stringContaining('`results`') } })
})
