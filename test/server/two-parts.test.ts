import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/core/event.ts'
import { problemOfEvent } from '../../src/service/events/emission-shape.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

let server: RunningTestServer
beforeAll(async () => {
  server = await startServer()
  const files = {
    'lamp.md': '# Lamp\n\n## Light the lamp\n\nTurn the brass key and hold a match to the wick.\n',
    'clock.md': '# Clock\n\n## Wind the clock\n\nPull both weights to the top every Sunday.\n',
  }
  for (const [source, content] of Object.entries(files))
    await server.call('POST', '/api/v1/knowledge/content', { source, content })
})
afterAll(() => server.close())

async function ask(input: string) {
  const { json } = await server.call('POST', '/api/v1/agents/docs/run', { input })
  const { text } = await server.call('GET', `/api/v1/runs/${json.run_id}/events`)
  const events: RunEvent[] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
  return { content: String(json.content), sources: json.sources, events }
}

describe('a question in two parts, without a model', () => {
  it('is searched part by part, and each part has its quote', async () => {
    const { content, sources, events } = await ask('How do I light the lamp, and how do I wind the clock?')
    const queries = events.flatMap((event) => (event.type === 'retrieval' ? [event.query] : []))
    expect(queries).toEqual(['How do I light the lamp', 'how do I wind the clock?'])
    expect(content).toContain('hold a match to the wick.\n[1] lamp.md:5')
    expect(content).toContain('every Sunday.\n[2] clock.md:5')
    expect(sources).toMatchObject([
      { index: 1, source: 'lamp.md', cited: true },
      { index: 2, source: 'clock.md', cited: true },
    ])
  })

  it('says for which part nothing was found', async () => {
    const { content, events } = await ask('How do I light the lamp, and how do I bake sourdough pretzels?')
    expect(content).toContain('[1] lamp.md:5')
    expect(content).toContain('Nothing in the knowledge base fits this part: how do I bake sourdough pretzels?')
    const silent = events.map((event) => event.type === 'retrieval' && event.abstained !== undefined)
    expect(silent.filter(Boolean)).toHaveLength(1)
  })
})

describe('the fit that an agent of its own code records', () => {
  const fit = { score: 0.5, threshold: 0.6, coverage: 1, chunks: 3, words: [{ word: 'a', chunks: 0, weight: 1 }] }
  const problem = (changed: object) =>
    problemOfEvent('retrieval', { type: 'retrieval', query: 'a', results: [], fit: { ...fit, ...changed } })

  it('is taken when it is whole', () => {
    expect(problem({})).toBeUndefined()
    expect(problem({ similarity: 0.2, agreement: 1, lead: 0.3 })).toBeUndefined()
  })

  it.each([
    { score: 'high' },
    { threshold: null },
    { coverage: undefined },
    { similarity: 'near' },
    { chunks: 1.5 },
    { words: {} },
    { words: [null] },
    { words: [{ word: 1, chunks: 0, weight: 1 }] },
    { words: [{ word: 'a', chunks: 0, weight: 1, as: 2 }] },
  ])('is refused when it is not: %j', (changed) => {
    expect(problem(changed)).toContain('`fit`')
  })
})
