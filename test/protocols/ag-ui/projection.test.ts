import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { toWireEvent } from '../../../src/core/events/sent-event.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { encodeEvents, started } from '../../../src/protocols/ag-ui/event.ts'
import { MessageFold } from '../../../src/protocols/ag-ui/messages.ts'
import { AgUiRun } from '../../../src/protocols/ag-ui/run.ts'
import { agUiStream } from '../../../src/protocols/ag-ui/stream.ts'
import { type Batch, toFrames } from '../../../src/protocols/frames.ts'
import { longRun, type RecordedRun, recordedRuns, recordRun } from '../../support/protocols/recorded-runs.ts'
import { quickest } from '../../support/quickest.ts'
import { eventsOf } from './support.ts'

/** What both 0.0.59 and 1.0 know. */
const known =
  /^(?:RUN_(?:STARTED|FINISHED|ERROR)|TEXT_MESSAGE_(?:START|CONTENT|END)|REASONING_(?:START|END)|REASONING_MESSAGE_(?:START|CONTENT|END)|TOOL_CALL_(?:START|ARGS|END|RESULT)|STATE_SNAPSHOT|STEP_(?:STARTED|FINISHED)|SUBAGENT_(?:STARTED|FINISHED|ERROR)|CUSTOM)$/

const named = { threadId: 'ses_recorded', runId: 'r1' }
const fileAddress = (session: string, file: string) => `/files/${session}/${file}`

async function* inBatches(events: readonly RunEvent[], size: number): AsyncGenerator<Batch> {
  for (let start = 0; start < events.length; start += size) yield events.slice(start, start + size)
}

async function streamed(events: readonly RunEvent[], size: number, from = 1, isModern = true): Promise<string> {
  const stream = agUiStream({ named, from, isModern, fileAddress }, inBatches(events, size))
  let text = ''
  const frames = toFrames(stream.projection, stream.events, { runId: 'run_1', logger: silentLogger })
  for await (const frame of frames) text += frame
  return text
}

const beginnings = ({ events }: RecordedRun) => [
  1,
  ...events.filter((event) => event.type === 'run_resumed').map(({ seq }) => seq),
]
const runNamed = (name: string) => recordedRuns.find((run) => run.name === name) as RecordedRun

/** The messages of the thread for who comes later. */
function snapshotOf(events: readonly RunEvent[]) {
  const run = new AgUiRun({ named, from: 1, isModern: true, fileAddress, isHistory: true })
  const fold = new MessageFold()
  for (const event of events) for (const one of run.add(toWireEvent(event, false))) fold.add(one)
  return fold.messages
}

describe.each(recordedRuns)('a run that is $name', (recorded) => {
  const { events } = recorded

  test('gives the same frames however its events come, and ends them once', async () => {
    for (const from of beginnings(recorded)) {
      const whole = await streamed(events, 1000, from)
      for (const size of [1, 2, 5]) expect(await streamed(events, size, from)).toBe(whole)
      expect(whole).not.toContain('secret')
      const types = eventsOf(whole).map(({ type }) => type)
      expect(types.filter((type) => !known.test(type))).toEqual([])
      expect(types.filter((type) => type === 'RUN_STARTED')).toHaveLength(1)
      expect(types[0]).toBe('RUN_STARTED')
      expect(types.filter((type) => /^RUN_(?:FINISHED|ERROR)$/.test(type))).toEqual([types.at(-1)])
    }
  })

  test('has no null that may be left out, and no two messages or calls of one id', async () => {
    const ids = new Set<string>()
    for (const from of beginnings(recorded)) {
      for (const event of eventsOf(await streamed(events, 1000, from))) {
        for (const [field, value] of Object.entries(event)) {
          if (field !== 'value') expect([event.type, field, value]).not.toEqual([event.type, field, null])
        }
        const id = event.type === 'TOOL_CALL_START' ? event.toolCallId : undefined
        if (id === undefined) continue
        expect(ids).not.toContain(id)
        ids.add(id)
      }
    }
  })

  test('has the same messages in the streams of its stretches and in the thread', async () => {
    const fold = new MessageFold()
    for (const from of beginnings(recorded)) {
      for (const event of eventsOf(await streamed(events, 3, from))) fold.add(event as never)
    }
    expect(fold.messages).toEqual(snapshotOf(events))
  })

  test('ends what it has opened, in order', async () => {
    for (const from of beginnings(recorded)) {
      const open: string[] = []
      for (const { type, messageId, toolCallId, stepName, subagentRunId } of eventsOf(
        await streamed(events, 1000, from),
      )) {
        const id = messageId ?? toolCallId ?? stepName ?? subagentRunId
        const [, what, edge] = /^(.+)_(START|STARTED|END|FINISHED|ERROR)$/.exec(type) ?? []
        if (what === undefined || what === 'RUN') continue
        if (edge === 'START' || edge === 'STARTED') open.push(`${what} ${id}`)
        else expect(open.pop()).toBe(`${what} ${id}`)
      }
      expect(open).toEqual([])
    }
  })
})

test('a stretch that is cut ends with an error, never like an answer that is whole', async () => {
  const { events } = runNamed('completed')
  const shown = eventsOf(await streamed(events.slice(0, 5), 2))
  expect(shown.at(-1)).toEqual({
    type: 'RUN_ERROR',
    message: 'the stream ended before the run did',
    code: 'run_failed',
  })
  // Of a stretch that was never there too.
  expect(eventsOf(await streamed(events.slice(0, 5), 2, 99)).map(({ type }) => type)).toEqual([
    'RUN_STARTED',
    'RUN_ERROR',
  ])
})

test('text and calls of one model call are one message, and what follows an outcome is another', async () => {
  const shown = eventsOf(await streamed(runNamed('denied').events, 1000))
  expect(shown.map(({ type }) => type).join(' ')).toBe(
    'RUN_STARTED CUSTOM TOOL_CALL_START TOOL_CALL_ARGS TOOL_CALL_END RUN_FINISHED',
  )
  const run = recordRun('talkative', [
    { type: 'text_delta', text: 'I look. ' },
    { type: 'tool_call', call_id: 'a', name: 'look', input: {} },
    { type: 'tool_result', call_id: 'a', name: 'look', output: null, duration_ms: 1 },
    { type: 'text_delta', text: 'I see.' },
    { type: 'tool_call', call_id: 'a', name: 'look', input: { again: true } },
    { type: 'tool_result', call_id: 'a', name: 'look', error: { message: 'Dark.' }, duration_ms: 1 },
    { type: 'run_end', status: 'completed', usage: null, cache_hit: false },
  ])
  const call = `call_${run.run.run_id.slice(4)}_a`
  const at = (seq: number) => `msg_${run.run.run_id.slice(4)}_${seq}`
  const function_ = (args: string) => ({ name: 'look', arguments: args })
  expect(snapshotOf(run.events)).toEqual([
    {
      id: at(2),
      role: 'assistant',
      content: 'I look. ',
      toolCalls: [{ id: call, type: 'function', function: function_('{}') }],
    },
    { id: `tool_${call}`, role: 'tool', toolCallId: call, content: 'null' },
    {
      id: at(5),
      role: 'assistant',
      content: 'I see.',
      toolCalls: [{ id: `${call}#6`, type: 'function', function: function_('{"again":true}') }],
    },
    { id: `tool_${call}#6`, role: 'tool', toolCallId: `${call}#6`, content: 'Error: Dark.' },
  ])
})

test('a pause tells what it waits for, and the next stretch only what became of it', async () => {
  const { events, run } = runNamed('denied')
  const toolCallId = `call_${run.run_id.slice(4)}_t2`
  const end = eventsOf(await streamed(events, 1000)).at(-1)
  expect(end).toEqual({
    type: 'RUN_FINISHED',
    ...named,
    outcome: {
      type: 'interrupt',
      interrupts: [
        {
          id: `${run.run_id}/t2`,
          reason: 'tool_call',
          message: 'May I pay?',
          toolCallId,
          responseSchema: {
            type: 'object',
            properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
            required: ['approved'],
          },
          metadata: { run_id: run.run_id, data: { amount: 5 } },
        },
      ],
    },
    usage: [{ model: 'm', inputTokens: 3, outputTokens: 4, totalTokens: 7 }],
  })
  const [, from = 0] = beginnings(runNamed('denied'))
  const next = eventsOf(await streamed(events, 1000, from))
  expect(next.map(({ type }) => type)).not.toContain('TOOL_CALL_START')
  expect(next.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({ toolCallId, content: 'Error: No.' })
  expect(next.at(-1)).toMatchObject({ outcome: { type: 'success' }, usage: [{ totalTokens: 7 }] })
})

test('a form and a decision without a call say what they are', async () => {
  const { events, run } = runNamed('asked by a child run, and answered')
  const { interrupts } = eventsOf(await streamed(events, 1000)).at(-1)?.outcome ?? {}
  expect(interrupts.map(({ id, reason }: { id: string; reason: string }) => [id, reason])).toEqual([
    [`${run.run_id}/run_child/t2`, 'tool_call'],
    [`${run.run_id}/form`, 'input_required'],
  ])
  const confirm = recordRun('confirm', [
    { type: 'input_required', call_id: 'send', kind: 'approval', prompt: 'Send it?', data: 1 },
    { type: 'run_end', status: 'input_required', usage: null, cache_hit: false },
  ])
  const [one] = eventsOf(await streamed(confirm.events, 1)).at(-1)?.outcome.interrupts ?? []
  expect(one).toMatchObject({ reason: 'confirmation', message: 'Send it?' })
  expect(one).not.toHaveProperty('toolCallId')
})

test('calls of the client are named for 1.0 only, and have no outcome from here', async () => {
  const { events, run } = runNamed('waiting for a client tool')
  const toolCallId = `call_${run.run_id.slice(4)}_t3`
  expect(eventsOf(await streamed(events, 9)).at(-1)?.outcome).toEqual({
    type: 'success',
    pendingToolCallIds: [toolCallId],
  })
  expect(eventsOf(await streamed(events, 9, 1, false)).at(-1)?.outcome).toEqual({ type: 'success' })
})

test.each([
  ['cancelled', { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }, { type: 'RUN_ERROR', code: 'run_cancelled' }],
  ['interrupted', { type: 'RUN_ERROR', code: 'run_interrupted' }, { type: 'RUN_ERROR', code: 'run_interrupted' }],
  [
    'failed',
    { type: 'RUN_ERROR', code: 'run_failed', message: 'It broke.' },
    { type: 'RUN_ERROR', code: 'run_failed' },
  ],
  ['failed at once', { type: 'RUN_ERROR', code: 'run_limit' }, { type: 'RUN_ERROR', code: 'run_limit' }],
])('a run that is %s ends so for each version', async (name, modern, older) => {
  const { events } = runNamed(name)
  expect(eventsOf(await streamed(events, 9)).at(-1)).toMatchObject(modern)
  expect(eventsOf(await streamed(events, 9, 1, false)).at(-1)).toMatchObject(older)
})

test('open steps of one name have different ones, and child runs are subagents', async () => {
  const run = recordRun('parallel', [
    ...['a', 'b', 'c'].map((step_id) => ({ type: 'step_start', step_id, name: 'look' }) as const),
    { type: 'step_start', step_id: 'd', name: 'ask', parent_id: 'a', child_run_id: 'run_one' },
    { type: 'step_start', step_id: 'e', name: 'ask', parent_id: 'd', child_run_id: 'run_two' },
    { type: 'step_end', step_id: 'e', status: 'failed', error: { message: 'Deaf.' }, duration_ms: 1 },
    { type: 'step_end', step_id: 'd', status: 'completed', output: 'heard', duration_ms: 1 },
    ...['b', 'a', 'c'].map((step_id) => ({ type: 'step_end', step_id, status: 'completed', duration_ms: 1 }) as const),
    { type: 'run_end', status: 'completed', usage: null, cache_hit: false },
  ])
  const shown = eventsOf(await streamed(run.events, 9)).slice(2, -1)
  expect(shown.map(({ type: _, ...fields }) => Object.values(fields)[0])).toEqual([
    ...['look', 'look #2', 'look #3', 'run_one', 'run_two', 'run_two', 'run_one', 'look #2', 'look', 'look #3'],
  ])
  expect(shown.filter(({ subagentRunId }) => subagentRunId !== undefined)).toEqual([
    { type: 'SUBAGENT_STARTED', subagentRunId: 'run_one', name: 'ask' },
    { type: 'SUBAGENT_STARTED', subagentRunId: 'run_two', name: 'ask', parentSubagentRunId: 'run_one' },
    { type: 'SUBAGENT_ERROR', subagentRunId: 'run_two', message: 'Deaf.' },
    { type: 'SUBAGENT_FINISHED', subagentRunId: 'run_one', outcome: { type: 'success' }, result: 'heard' },
  ])
})

test('a step that a run pauses in is suspended, and begins the next stretch', async () => {
  const recorded = runNamed('asked inside a step, and answered')
  const [, from = 0] = beginnings(recorded)
  const [first, next] = [await streamed(recorded.events, 9), await streamed(recorded.events, 9, from)].map(eventsOf)
  const interruptIds = [`${recorded.run.run_id}/run_child/t2`]
  expect(first?.filter(({ type }) => /^(?:STEP|SUBAGENT)/.test(type)).slice(2)).toEqual([
    { type: 'SUBAGENT_FINISHED', subagentRunId: 'run_child', outcome: { type: 'suspended', interruptIds } },
    { type: 'STEP_FINISHED', stepName: 'research' },
  ])
  expect(next?.slice(2).map(({ type }) => type)).toEqual([
    ...['STEP_STARTED', 'SUBAGENT_STARTED', 'TOOL_CALL_RESULT', 'SUBAGENT_FINISHED', 'STEP_FINISHED'],
    ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
  ])
})

test('a stream that loses its run ends with the error, and begins once for a client that has the beginning', async () => {
  const typesOf = async (isBegun: boolean) => {
    const lost = agUiStream({ named, from: 1, isModern: true, fileAddress, isBegun }, inBatches([], 1))
    const options = { runId: 'run_1', logger: silentLogger, opening: isBegun ? encodeEvents([started(named)]) : '' }
    let text = ''
    for await (const frame of toFrames(lost.projection, lost.events, options)) text += frame
    return eventsOf(text).map(({ type }) => type)
  }
  for (const isBegun of [false, true]) expect(await typesOf(isBegun)).toEqual(['RUN_STARTED', 'RUN_ERROR'])
})

test('ten thousand fragments take as long each as a thousand', async () => {
  const timed = (events: readonly RunEvent[]) =>
    quickest(async () => ({ stream: await streamed(events, 100), messages: snapshotOf(events) }))
  const { ms: few } = await timed(longRun(1_000).events)
  const { ms: many, stream, messages } = await timed(longRun(10_000).events)
  expect(eventsOf(stream)).toHaveLength(10_000 + 5)
  expect(messages[0]?.content).toMatch(/^fragment 0 fragment 1 .*fragment 9999 $/)
  // What grows with the square would take a hundred times as long.
  expect(many).toBeLessThan(50 * Math.max(few, 2))
})
