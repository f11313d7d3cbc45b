import { expect, it, onTestFinished } from 'vitest'
import { usualClusterTimes } from '../../../src/config/settings/postgres.ts'
import { type EmittedEvent, emittedTypes, type RunEvent } from '../../../src/core/event.ts'
import { type NewerEvent, newerEvents } from '../../../src/core/events/newer.ts'
import { systemTimers } from '../../../src/runtime/timers.ts'
import { type Step, steps } from '../../../src/store/sessions/postgres/schema/steps.ts'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { newestStep, newPlace } from '../../support/postgres/newer-steps.ts'
import { serve } from '../../support/postgres/serve.ts'
import { collect, openServices, request, runnable } from '../../support/services.ts'

/** A step that changes no table: a release without another one has it for its new types. */
const bare: Step = { step: newestStep + 1, kind: 'expand', sql: '' }
const newer = [...steps, bare]

/** As if the next version had brought this type. */
function declare(type: EmittedEvent['type'], more: Partial<NewerEvent> = {}): void {
  newerEvents.set(type, { step: bare.step, ...more })
  onTestFinished(() => void newerEvents.delete(type))
}

function declareBoth(): void {
  declare('tool_progress')
  declare('model_fallback', { instead: () => ({ type: 'data', data: 'a fallback' }) })
}

const round: EmittedEvent[] = [
  { type: 'text_delta', text: '-' },
  { type: 'tool_progress', call_id: 'c', name: 'n', output: 1 },
  { type: 'model_fallback', call_id: 'c', from: 'a', to: 'b', reason: 'r' },
]
const newerTypes: string[] = ['tool_progress', 'model_fallback']

it('all other types than those of the first version are in newerEvents', () => {
  const first =
    'text_delta reasoning_delta data data_delta file model_call_start model_call_end model_fallback retrieval source ' +
    'tool_call tool_result tool_progress tool_input_delta input_required step_start step_end'
  expect(emittedTypes.filter((type) => !first.split(' ').includes(type))).toEqual([...newerEvents.keys()])
})

it('types that are newer than the first version name a step of the tables', () => {
  const wrong = () =>
    [...newerEvents].filter(([, { step }]) => !steps.some((known) => known.step === step)).map(([type]) => type)
  expect(wrong()).toEqual([])
  declareBoth()
  expect(wrong()).toEqual(newerTypes)
})

it('a newer type is recorded and sent at once where a store has one server', async () => {
  declareBoth()
  const { runs } = await openServices({
    round: runnable(async function* () {
      yield* round
    }),
  })
  const events = await collect((await runs.start(request('round', 'x'))).events())
  expect(events.slice(1, -1)).toMatchObject(round)
})

describePostgres('a type of event that came with a step of the tables', () => {
  it('is recorded and sent only while all servers know the step, without gaps in the numbers', async () => {
    declareBoth()
    const { url, name: schema } = await newPlace()
    let isOver = false
    let rounds = 0
    const ticking = runnable(async function* () {
      for (; !isOver; rounds++) {
        yield* round
        await new Promise<void>((resolve) => systemTimers.set(resolve, 10))
      }
    })
    const times = { ...usualClusterTimes(), deadAfterMs: 5_000 }
    async function join(owner: string, known = newer) {
      const store = postgresStore({ url, schema, steps: known })
      await store.open()
      const server = await serve(store, owner, { ticking }, times)
      let close = async () => {
        close = async () => {}
        await server.close()
        await store.close()
      }
      onTestFinished(() => close())
      return { runs: server.runs, close: () => close() }
    }
    const a = await join('own_a')
    const b = await join('own_b')
    const c = await join('own_c', [...steps])
    const typesOf = (events: readonly RunEvent[]) => new Set(events.map(({ type }) => type))
    const seen: RunEvent[] = []
    const lastSeen = () => typesOf(seen.slice(-30))
    const settled = { timeout: 20_000, interval: 50 }

    const own = await a.runs.start(request('ticking', 'x', { mode: 'background' }))
    const reading = (async () => {
      for await (const page of await b.runs.events(own.runId, 0)) seen.push(...page)
    })()
    // It knows of the third server by its next beat.
    await expect.poll(lastSeen, settled).toEqual(new Set(['text_delta', 'data']))
    await c.close()
    await expect.poll(lastSeen, settled).toEqual(new Set(['text_delta', ...newerTypes]))
    const d = await join('own_d', [...steps])
    await expect.poll(lastSeen, settled).toEqual(new Set(['text_delta', 'data']))
    await d.close()
    await join('own_e')
    await expect.poll(lastSeen, settled).toEqual(new Set(['text_delta', ...newerTypes]))

    isOver = true
    await reading
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, place) => place + 1))
    expect(await collect(await a.runs.events(own.runId, 0))).toEqual(seen)
    const counts = (type: string) => seen.filter((event) => event.type === type).length
    expect(counts('text_delta')).toBe(rounds)
    expect(counts('data') + counts('model_fallback')).toBe(rounds)
    expect(counts('tool_progress')).toBe(counts('model_fallback'))
  }, 120_000)
})
