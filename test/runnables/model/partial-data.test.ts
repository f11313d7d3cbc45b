import { Output, type OutputInterface } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { EmittedEvent, RunEvent } from '../../../src/core/event.ts'
import type { StreamPart } from '../../../src/runnables/again/answer-stream.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { structured } from '../../../src/runnables/model/structured.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { eventsOf, parseEvents, serveAgents, typesOf } from '../agent-server.ts'
import { answer, collect, scripted } from '../fixture.ts'

const output = Output.object({ schema: z.object({ city: z.string(), degrees: z.number() }) })
const schema = { type: 'object', properties: { city: { type: 'string' }, degrees: { type: 'number' } } }
const told = { city: 'Bern', degrees: 21 }
const pieces = ['{"city":"Be', 'rn","degr', 'ees":21}'] as const

/** A model that says the first piece, and the rest once that has been seen. */
function paced() {
  const seen = Promise.withResolvers<void>()
  const model = new MockLanguageModelV4({
    doStream: async () => {
      const parts = answer(...pieces)
      const stream = new ReadableStream<StreamPart>({
        async start(controller) {
          for (const part of parts) {
            if (part.type === 'text-delta' && part.delta !== pieces[0]) await seen.promise
            controller.enqueue(part)
          }
          controller.close()
        },
      })
      return { stream }
    },
  })
  return { model, goOn: () => seen.resolve() }
}

async function serve(entities: Record<string, object>) {
  const server = await serveAgents(entities)
  onTestFinished(() => server.close())

  /** The events of a stream; `onEvent` is told each when it comes. */
  async function read(path: string, onEvent: (event: RunEvent) => void, body?: object): Promise<RunEvent[]> {
    const headers = { 'content-type': 'application/json' }
    const post = body && { method: 'POST', headers, body: JSON.stringify({ input: 'x', stream: true, ...body }) }
    const response = await fetch(`${server.url}/api/v1${path}`, post)
    let text = ''
    let count = 0
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(bytes).toString()
      const events = parseEvents(text.slice(0, text.lastIndexOf('\n\n') + 1))
      for (const event of events.slice(count)) onEvent(event)
      count = events.length
    }
    return parseEvents(text)
  }

  return { ...server, read }
}

const partialsOf = (events: readonly (EmittedEvent | RunEvent)[]) =>
  events.flatMap((event) => (event.type === 'data_delta' ? [event.data] : []))

test.each(['output', 'output_schema', 'hook', 'team'] as const)(
  'a live reader gets the object as far as it has come, and then the whole (%s)',
  async (way) => {
    const { model, goOn } = paced()
    const member = agent({ name: 'member', model, output })
    const entities = {
      output: member,
      output_schema: agent({ model }),
      hook: agent({ model, output, hooks: { run: async (_call, next) => void (await next()) } }),
      team: team({ members: [agent({ name: 'first', run: () => 'One.' }), member] }),
    }
    const server = await serve({ it: entities[way] })
    const asked = way === 'output_schema' ? { output_schema: schema } : {}
    const events = await server.read('/agents/it/run', (event) => event.type === 'data_delta' && goOn(), asked)
    expect(partialsOf(events)[0]).toEqual({ city: 'Be' })
    expect(eventsOf(events, 'data').map(({ data }) => data)).toEqual([told])
    expect(typesOf(events).lastIndexOf('data_delta')).toBeLessThan(typesOf(events).indexOf('data'))
    const numbered = events.filter(({ type }) => type !== 'data_delta')
    expect(typesOf(await server.events(events[0]?.run_id))).toEqual(typesOf(numbered))
  },
)

test('a workflow does not pass on what an agent that it asks has so far', async () => {
  const { model, goOn } = paced()
  const server = await serve({
    it: agent({ model, output }),
    flow: workflow({ run: async ({ ask }) => (await ask('it', 'x')).data }),
  })
  let child: Promise<RunEvent[]> | undefined
  const events = await server.read(
    '/agents/flow/run',
    (event) => {
      if (event.type !== 'step_start' || event.child_run_id === undefined) return
      child = server.read(`/runs/${event.child_run_id}/events`, ({ type }) => type === 'data_delta' && goOn())
    },
    {},
  )
  expect(partialsOf((await child) ?? [])[0]).toEqual({ city: 'Be' })
  expect(partialsOf(events)).toEqual([])
  expect(eventsOf(events, 'data').map(({ data }) => data)).toEqual([told])
})

test('output guardrails hold it back with the answer, whether they let the answer out or not', async () => {
  const partials = async (guardrails: object) =>
    partialsOf((await collect(agent({ model: scripted(answer(...pieces)), output, guardrails }), 'x')).events)
  expect(await partials({})).toHaveLength(1)
  expect(await partials({ input: () => undefined })).toHaveLength(1)
  expect(await partials({ output: () => undefined })).toEqual([])
  expect(await partials({ output: () => ({ refuse: 'No.' }) })).toEqual([])
  const own = agent({
    *run() {
      yield { type: 'data_delta', data: { n: 1 } }
      yield { type: 'data', data: { n: 12 } }
    },
    guardrails: { output: () => undefined },
  })
  expect((await collect(own, 'x')).types).toEqual(['step_start', 'step_end', 'data'])
})

interface Told {
  at: number
  event: EmittedEvent
}

/** What `structured` makes of fragments that come every `everyMs`, with the time of each event. */
async function structure(texts: readonly string[], everyMs: number, of: (clock: { ms: number }) => OutputInterface) {
  const clock = { ms: 0 }
  async function* events(): AsyncGenerator<EmittedEvent> {
    for (const text of texts) {
      clock.ms += everyMs
      yield { type: 'text_delta', text }
    }
    yield { type: 'model_call_end', call_id: 'c', usage: null, finish_reason: 'stop', duration_ms: 1 }
  }
  const all: Told[] = []
  for await (const event of structured(events(), of(clock), 'the schema', () => clock.ms))
    all.push({ at: clock.ms, event })
  return all
}

test('the object grows at most every 100 ms, and only when it has changed', async () => {
  const list = Output.object({ schema: z.object({ numbers: z.array(z.number()), note: z.string() }) })
  const numbers = Array.from({ length: 200 }, (_, n) => n)
  const text = JSON.stringify({ numbers, note: 'end' })
  const all = (await structure([...text.replace(',', `,${' '.repeat(300)}`)], 7, () => list)).slice(0, -2)
  expect(all.length).toBeGreaterThan(40)
  expect(new Set(all.map(({ event }) => event.type))).toEqual(new Set(['data_delta']))
  for (const [place, { at }] of all.entries()) expect(at - (all[place - 1]?.at ?? -100)).toBeGreaterThanOrEqual(100)
  const shown = partialsOf(all.map(({ event }) => event)).map((partial) => JSON.stringify(partial))
  expect(new Set(shown).size).toBe(shown.length)
  expect(shown.map((one) => one.length)).toEqual(shown.map((one) => one.length).sort((one, other) => one - other))
})

test('10,000 fragments take time in proportion to their number, not to its square', async () => {
  const costOf = async (count: number) => {
    let cost = 0
    const texts = ['["', ...Array<string>(count).fill('word '), '"]']
    const all = await structure(texts, 1, (clock) => {
      const slow = Output.json()
      return {
        ...slow,
        async parsePartialOutput(options: { text: string }) {
          cost += options.text.length / 1_000
          clock.ms += options.text.length / 1_000
          return { partial: options.text.length }
        },
      } as OutputInterface
    })
    expect(all.at(-1)?.event.type).toBe('data')
    return cost
  }
  const [once, twice] = [await costOf(10_000), await costOf(20_000)]
  expect(once).toBeGreaterThan(0)
  expect(twice / once).toBeLessThan(2.3)
})

test.each([
  ['throws', () => Promise.reject(new Error('no'))],
  ['is too deep', async () => ({ partial: Array.from({ length: 600 }).reduce((inside) => [inside], []) })],
  ['is no JSON', async () => ({ partial: 1n })],
  ['is nothing', async () => undefined],
])('a partial value that %s is left out, and the answer comes all the same', async (_what, parsePartialOutput) => {
  const all = await structure(['{"a":', '1}'], 200, () => ({ ...Output.json(), parsePartialOutput }) as OutputInterface)
  expect(all.map(({ event }) => event)).toEqual([
    expect.objectContaining({ type: 'model_call_end' }),
    { type: 'data', data: { a: 1 } },
  ])
})
