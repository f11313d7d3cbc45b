import { describe, expect, test } from 'vitest'
import { toAppError } from '../../../src/core/error.ts'
import type { InputRequired, RunEvent } from '../../../src/core/event.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { type Answer, answerTo } from '../../../src/core/waiting.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { collect, gate, openServices, request, runnable } from '../../support/services.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

type Ask = Omit<InputRequired, 'type'>

/** Asks all of this at once, one list after the other, and then says what it was told. */
const asker = (...lists: Ask[][]): Runnable =>
  runnable(async function* (_input, { resumed }) {
    const told = (resumed?.events ?? []).filter((event) => event.type === 'run_resumed')
    const next = lists[told.length]
    for (const ask of next ?? []) yield { type: 'input_required', ...ask } as InputRequired
    if (next !== undefined) return
    const answers = told.map((event, index) => lists[index]?.map(({ call_id }) => answerTo(call_id, event)))
    yield JSON.stringify(answers)
  })

const approval = (call_id: string): Ask => ({ call_id, prompt: `Allow ${call_id}?` })
const number: Ask = { call_id: 'n', prompt: 'How many?', schema: { type: 'integer', minimum: 1 } }
const free: Ask = { prompt: 'Which?' }
const client: Ask = { call_id: 't', kind: 'tool', tool: 'here', prompt: 'Call here.' }

async function pause(entity: Runnable, store?: SessionStore) {
  const { runs, store: kept } = await openServices({ it: entity, slow: gate().runnable }, store)
  const first = await (await runs.start(request('it', 'Go'))).result()
  expect(first).toMatchObject({ status: 'input_required', error: null })
  const runId = first.run_id
  const send = (answer: Answer) => runs.resume(runId, { ...answer, mode: 'plain' })
  return {
    runs,
    store: kept,
    runId,
    first,
    send,
    async told(answer: Answer) {
      const { status, messages } = await (await send(answer)).result()
      return status === 'completed' ? JSON.parse(messages[1]?.content ?? 'null') : status
    },
    async refusal(answer: Answer) {
      const { code, message, details } = toAppError(await send(answer).catch((error: unknown) => error))
      expect((await runs.get(runId)).status).toBe('input_required')
      return { code, message, paths: details?.map(({ path }) => path) }
    },
    events: async (): Promise<RunEvent[]> => collect(await runs.events(runId, 0)),
  }
}

describe('an answer', () => {
  test.each([
    [
      'answers by call',
      [approval('a'), approval('b')],
      { answers: { a: { approved: true, input: 1 }, b: { approved: false, reason: 'no' } } },
      [
        { approved: true, input: 1 },
        { approved: false, reason: 'no' },
      ],
    ],
    [
      'answers beside one decision for the rest',
      [approval('a'), approval('b')],
      { approved: false, answers: { a: { approved: true } } },
      [{ approved: true }, { approved: false }],
    ],
    [
      'decisions by call beside answers',
      [approval('a'), number],
      { approved: { a: true }, answers: { n: { input: 3 } } },
      [{ approved: true }, { input: 3 }],
    ],
    ['input that fits', [number], { input: 2 }, [{ input: 2 }]],
    ['null as input', [free], { input: null }, [{ input: null }]],
    ['one decision where no particular input is asked for', [free], { approved: true }, [{ approved: true }]],
    ['the output of a tool', [client], { answers: { t: { output: null } } }, [{ output: null }]],
    ['the error of a tool', [client], { answers: { t: { error: 'broken' } } }, [{ error: 'broken' }]],
  ] as [string, Ask[], Answer, unknown][])('may be %s', async (_name, asks, answer, expected) => {
    const { told } = await pause(asker(asks))
    expect(await told(answer)).toEqual([expected])
  })

  test.each([
    ['without anything', [approval('a'), number], {}, ['approved', 'input']],
    [
      'that leaves calls open',
      [approval('a'), approval('b'), client],
      { answers: { b: { approved: true } } },
      ['answers.a', 'answers.t'],
    ],
    ['with an empty answer', [approval('a')], { answers: { a: {} } }, ['answers.a']],
    ['without what a tool gave', [client], { approved: true }, ['answers.t']],
    ['with two outcomes of a tool', [client], { answers: { t: { output: 1, error: 'x' } } }, ['answers.t']],
    [
      'to unknown calls',
      [approval('a')],
      { approved: { a: true, b: true }, answers: { constructor: { approved: true } } },
      ['approved.b', 'answers.constructor'],
    ],
    [
      'of another kind',
      [approval('a'), number, client],
      { answers: { a: { output: 1 }, n: { approved: true }, t: { input: 1 } } },
      ['answers.a.output', 'answers.n.approved', 'answers.t.input'],
    ],
    ['with a decision on an input', [number], { approved: { n: true } }, ['approved.n']],
    ['that approves instead of giving the input', [number], { approved: true }, ['input']],
    [
      'whose input does not fit',
      [number, { ...number, call_id: 'm' }],
      { input: 0, answers: { m: { input: 'x' } } },
      ['input', 'answers.m.input'],
    ],
  ] as [string, Ask[], Answer, string[]][])(
    '%s is refused with all paths, and changes nothing',
    async (_name, asks, answer, paths) => {
      const { refusal } = await pause(asker(asks))
      expect(await refusal(answer)).toMatchObject({ code: 'invalid_request', paths })
    },
  )

  test('that is refused is told what to send', async () => {
    const { refusal } = await pause(asker([approval('a'), approval('b')]))
    expect((await refusal({ approved: { a: true } })).message).toBe(
      'The run is waiting for a decision of \'b\': Allow b? Send {"approved": true} or false, or {"answers":{"b":{"approved":true}}}.',
    )
  })

  test('is recorded with the pause whose end it takes the place of', async () => {
    const { first, send, events } = await pause(asker([approval('a')], [number]))
    const second = await (await send({ answers: { a: { approved: true } } })).result()
    await (await send({ input: 5 })).result()
    expect((await events()).filter(({ type }) => type === 'run_resumed')).toMatchObject([
      { answers: { a: { approved: true } }, paused: { seq: first.end_seq, at: first.completed_at } },
      { input: 5, paused: { seq: second.end_seq, at: second.completed_at } },
    ])
  })

  test('can be to an earlier record whose schema nobody can read', async () => {
    const entity = asker([{ prompt: 'Which?', schema: { type: 'integer' } }])
    const inner = memoryStore()
    const store = new Proxy(inner, {
      get(target, key) {
        const value = Reflect.get(target, key)
        if (key !== 'finishRun') return typeof value === 'function' ? value.bind(target) : value
        return (end: { events: InputRequired[] }) =>
          value.call(target, {
            ...end,
            events: end.events.map((event) =>
              event.schema === undefined ? event : { ...event, schema: { type: 'strange' } },
            ),
          })
      },
    })
    const { told } = await pause(entity, store)
    expect(await told({ input: 'x' })).toEqual([[{ input: 'x' }]])
  })
})

test('what an earlier version did not record of a pause is read from its events', async () => {
  const inner = memoryStore()
  const store = new Proxy(inner, {
    get(target, key) {
      const value = Reflect.get(target, key)
      if (key !== 'finishRun') return typeof value === 'function' ? value.bind(target) : value
      return ({ waiting: _waiting, ...end }: { waiting: unknown; events: InputRequired[] }) =>
        value.call(target, { ...end, events: end.events.map(({ kind: _kind, ...event }) => event) })
    },
  })
  const { runs, runId, told } = await pause(asker([approval('a')], [approval('b'), number]), store)
  expect(await told({ approved: true })).toBe('input_required')
  expect((await runs.get(runId)).waiting).toEqual([
    { ...approval('b'), kind: 'approval' },
    { ...number, kind: 'input' },
  ])
  expect((await inner.findRun(runId))?.waiting).toEqual([])
})

test.each([
  [{ kind: 'other' }, "whose `kind` is not 'approval', 'input' or 'tool'"],
  [{ kind: 'tool' }, "of kind 'tool' without `call_id`"],
  [{ schema: { type: 'strange' } }, 'whose schema.type must be one of'],
])('a request %j fails the run', async (ask, message) => {
  const { runs } = await openServices({ it: asker([{ prompt: 'x', ...ask } as Ask]) })
  const run = await (await runs.start(request('it', 'Go'))).result()
  expect(run).toMatchObject({
    status: 'failed',
    error: { code: 'run_failed', message: expect.stringContaining(message) },
  })
})

/** Waits for an approval, then for the gate. */
function gated() {
  const { runnable: slow, begun, open } = gate()
  const entity = runnable(async function* (input, context) {
    if (context.resumed === undefined) yield { type: 'input_required', call_id: 'a', prompt: 'Now?' }
    else yield* slow.run(input, context)
  })
  return { entity, begun, open }
}

const yes = { answers: { a: { approved: true, reason: 'fine' } } }
const no = { answers: { a: { approved: false } } }

describe('the same answer again', () => {
  test('follows the run that continues, and another answer is a conflict', async () => {
    const { entity, begun, open } = gated()
    const { send, events } = await pause(entity)
    const [one, two] = await Promise.all([send(yes), send(yes)])
    await begun(0)
    const three = await send({ ...yes, input: undefined })
    await expect(send(no)).rejects.toMatchObject({ code: 'conflict' })
    await expect(send({ approved: true })).rejects.toMatchObject({ code: 'conflict' })
    open(0)
    for (const handle of [one, two, three]) expect((await handle.result()).status).toBe('completed')
    expect([one, two, three].filter(({ replayed }) => replayed)).toHaveLength(2)
    expect((await collect(three.events())).map(({ type }) => type)).toEqual([
      'run_resumed',
      'text_delta',
      'text_delta',
      'run_end',
    ])
    expect((await events()).filter(({ type }) => type === 'run_resumed')).toHaveLength(1)
  })

  test('does not end the run when only its own client leaves', async () => {
    const { entity, begun, open } = gated()
    const { runs, runId, send } = await pause(entity)
    const first = await send(yes)
    await begun(0)
    const client = new AbortController()
    const second = await runs.resume(runId, { ...yes, mode: 'stream', signal: client.signal })
    client.abort()
    open(0)
    expect((await first.result()).status).toBe('completed')
    expect((await second.result()).status).toBe('completed')
  })

  test.each(['memory', 'sqlite'])('gives the run that has ended, also after a restart: %s', async (kind) => {
    await using folder = await temporaryFolder()
    const create = () => sqliteStore({ path: `${folder.path}/agentserve.db` })
    const store = kind === 'memory' ? memoryStore() : create()
    const { told, runId } = await pause(asker([approval('a')]), store)
    await told(yes)
    if (kind === 'sqlite') await store.close()
    const { runs, store: next } = await openServices({}, kind === 'sqlite' ? create() : store)
    const again = await runs.resume(runId, { ...yes, mode: 'plain' })
    expect(again.replayed).toBe(true)
    expect((await again.result()).status).toBe('completed')
    expect((await collect(again.events())).map(({ type }) => type)).toEqual(['run_resumed', 'text_delta', 'run_end'])
    await expect(runs.resume(runId, { ...no, mode: 'plain' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(runs.resume(runId, { mode: 'plain' })).rejects.toMatchObject({ code: 'conflict' })
    await next.close()
  })

  test('answers the next pause if it can, and otherwise gives the run as it waits', async () => {
    const { send, told, refusal } = await pause(asker([approval('a')], [approval('b')], [approval('b')]))
    const first = { answers: { a: { approved: true } } }
    expect(await told(first)).toBe('input_required')
    const again = await send(first)
    expect(again.replayed).toBe(true)
    expect((await again.result()).status).toBe('input_required')
    expect(await refusal({ answers: { a: { approved: false } } })).toMatchObject({ code: 'invalid_request' })
    expect(await told({ approved: true })).toBe('input_required')
    expect(await told({ approved: true })).toHaveLength(3)
  })

  test('resumes a workflow that was interrupted after it, with the answer that it has', async () => {
    let isDead = true
    const never = new Promise<never>(() => {})
    const flow = workflow({
      async run({ step, approve }) {
        const input = await approve('it')
        await step('work', () => (isDead ? never : 1))
        return `done with ${input}`
      },
    })
    const store = memoryStore()
    const { send, runId } = await pause(flow, store)
    const answer = { answers: { 'it#1': { approved: true, input: 'care' } } }
    await send(answer)
    await store.recover('own_next', new Date().toISOString())
    isDead = false
    const { runs } = await openServices({ it: flow }, store)
    const run = await (await runs.resume(runId, { ...answer, mode: 'plain' })).result()
    expect(run).toMatchObject({ status: 'completed' })
    expect(run.messages[1]?.content).toBe('done with care')
  })

  test('is refused while another run of the session is at work', async () => {
    const { runs, runId, first, send, told } = await pause(asker([approval('a')], [approval('b')]))
    expect(await told({ approved: true })).toBe('input_required')
    const slow = await runs.start(request('slow', 'x', { sessionId: first.session_id, mode: 'background' }))
    await expect(send({ approved: true })).rejects.toMatchObject({ code: 'conflict' })
    await runs.cancel(slow.runId)
    expect((await runs.get(runId)).status).toBe('input_required')
  })
})
