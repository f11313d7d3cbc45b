import { validateUIMessages } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { RunEvent } from '../../../src/core/event.ts'
import { toWireEvent } from '../../../src/core/events/sent-event.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { MessageFold } from '../../../src/protocols/chat/message.ts'
import { ChatRun } from '../../../src/protocols/chat/run.ts'
import { chatProjection } from '../../../src/protocols/chat/stream.ts'
import { type Batch, toFrames } from '../../../src/protocols/frames.ts'
import { positionOf } from '../../../src/protocols/projection.ts'
import { longRun, recordedRuns, recordRun } from '../../support/protocols/recorded-runs.ts'
import { quickest } from '../../support/quickest.ts'
import { built, openClient, plain } from './client.ts'
import { chunksOf } from './support.ts'

/** What the clients of ai 5, 6 and 7 know, without the approvals that 5 does not know. */
const shared =
  /^(start|start-step|finish-step|finish|text-(start|delta|end)|reasoning-(start|delta|end)|tool-input-(start|delta|available|error)|tool-output-(available|error)|source-url|source-document|file|data-.+|message-metadata|error|abort)$/
const approvals = /^(tool-approval-request|tool-output-denied)$/

const settings = { fileAddress: (session: string, file: string) => `/files/${session}/${file}`, ui5: false }

async function* inBatches(events: readonly RunEvent[], size: number): AsyncGenerator<Batch> {
  for (let start = 0; start < events.length; start += size) yield events.slice(start, start + size)
}

async function streamed(events: readonly RunEvent[], size: number, ui5 = false, resumedAt?: number): Promise<string> {
  let text = ''
  const after = resumedAt === undefined ? undefined : positionOf(resumedAt, 0) - 1
  const options = { runId: 'run_1', logger: silentLogger, after }
  const frames = toFrames(chatProjection({ ...settings, ui5, resumedAt }), inBatches(events, size), options)
  for await (const frame of frames) text += frame
  return text
}

/** The message of the reload. */
function reloaded(events: readonly RunEvent[], ui5 = false) {
  const run = new ChatRun({ ...settings, ui5 })
  const fold = new MessageFold()
  for (const event of events) for (const chunk of run.add(toWireEvent(event, false))) fold.add(chunk)
  return fold.message()
}

const dataSchemas = { output: z.any(), step: z.any(), 'input-request': z.any(), approval: z.any() }

describe.each(recordedRuns)('a run that is $name', ({ events }) => {
  test('gives the same frames however its events come, and ends them once', async () => {
    const whole = await streamed(events, 1000)
    for (const size of [1, 2, 5]) expect(await streamed(events, size)).toBe(whole)
    expect(whole.match(/\[DONE\]/g)).toHaveLength(1)
    expect(whole.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(whole).not.toContain('secret')
  })

  test('has only chunks that the clients know', async () => {
    const types = async (ui5: boolean) => chunksOf(await streamed(events, 1000, ui5)).map(({ type }) => type as string)
    expect((await types(false)).filter((type) => !shared.test(type) && !approvals.test(type))).toEqual([])
    expect((await types(true)).filter((type) => !shared.test(type))).toEqual([])
  })

  test('is the same message in the client and in the reload, which the client accepts', async () => {
    for (const ui5 of [false, true]) {
      const message = reloaded(events, ui5)
      const stream = await streamed(events, 1000, ui5)
      const inClient = plain(await built(stream))
      expect(plain(message)).toEqual(inClient)
      // A comment between all frames changes nothing.
      expect(plain(await built(stream.replaceAll('\n\n', '\n\n: hb\n\n')))).toEqual(inClient)
      if (message.parts.length === 0) continue
      const messages = [JSON.parse(JSON.stringify(message))]
      expect(await validateUIMessages({ messages, dataSchemas })).toHaveLength(1)
    }
  })

  test('is the same in a chat that was cut at any frame and has resumed', async () => {
    const whole = await streamed(events, 1000)
    const wanted = plain(await built(whole))
    const frames = whole.split(/(?<=\n\n)/)
    for (const count of frames.keys()) {
      const chat = openClient((method) => (method === 'POST' ? frames.slice(0, count).join('') : whole))
      await chat.sendMessage({ text: 'Hello' })
      await chat.resumeStream()
      expect(chat.messages).toHaveLength(2)
      expect(plain(chat.lastMessage)).toEqual(wanted)
    }
  })

  test('goes on in the message that the client has when it is resumed', async () => {
    const at = events.findLastIndex(({ type }) => type === 'run_resumed')
    if (at === -1) return
    const { run_id, seq } = events[at] as RunEvent
    const pause: RunEvent = {
      type: 'run_end',
      status: 'input_required',
      usage: null,
      cache_hit: false,
      run_id,
      seq,
      at: '',
    }
    const before = await built(await streamed([...events.slice(0, at), pause], 1000))
    const rest = await streamed(events, 1000, false, seq)
    expect(rest).not.toContain('createdAt')
    expect(plain(await built(rest, before))).toEqual(plain(reloaded(events)))
  })
})

test('a stream that is cut ends with an error, never like an answer that is whole', async () => {
  const [{ events }] = recordedRuns as [(typeof recordedRuns)[number]]
  const [error] = chunksOf(await streamed(events.slice(0, 9), 4)).slice(-1)
  expect(error).toEqual({ type: 'error', errorText: 'the stream ended before the run did' })
})

test('a decision and its reason are in the reload', () => {
  const parts = (name: string) => reloaded(recordedRuns.find((run) => run.name === name)?.events ?? []).parts
  expect(parts('denied')).toContainEqual({
    type: 'tool-pay',
    toolCallId: 't2',
    state: 'output-denied',
    input: { amount: 5 },
    approval: { id: 't2', approved: false, reason: 'Too much.' },
  })
  expect(parts('cancelled while it waited').at(-1)).toMatchObject({
    state: 'output-denied',
    approval: { approved: false },
  })
  expect(parts('waiting').at(-1)).toMatchObject({ state: 'approval-requested', approval: { id: 't2' } })
})

test.each([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content-filter', 'content-filter'],
  // Another word would end the chat of some version.
  ['unknown', 'stop'],
  ['interrupted', 'stop'],
])('a model that ended with %s is told as %s', async (finish_reason, told) => {
  const { events } = recordRun('ended', [
    { type: 'model_call_start', call_id: 'c', model: 'm' },
    { type: 'model_call_end', call_id: 'c', model: 'm', usage: null, finish_reason, duration_ms: 1 },
    { type: 'run_end', status: 'completed', usage: null, cache_hit: false },
  ])
  expect(chunksOf(await streamed(events, 1)).at(-1)).toMatchObject({ type: 'finish', finishReason: told })
})

test('ten thousand fragments take as long each as a thousand', async () => {
  const timed = (events: readonly RunEvent[]) =>
    quickest(async () => ({ stream: await streamed(events, 100), message: reloaded(events) }))
  const { ms: few } = await timed(longRun(1_000).events)
  const { ms: many, stream, message } = await timed(longRun(10_000).events)
  expect(chunksOf(stream)).toHaveLength(10_000 + 6)
  expect(message.parts[1]).toMatchObject({ text: expect.stringMatching(/^fragment 0 fragment 1 .*fragment 9999 $/) })
  // What grows with the square would take a hundred times as long.
  expect(many).toBeLessThan(50 * Math.max(few, 2))
})
