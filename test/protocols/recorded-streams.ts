import { expect } from 'vitest'
import { AppError, type ErrorCode } from '../../src/core/error.ts'
import type { RunEvent } from '../../src/core/event.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { RunRecord, RunStatus } from '../../src/core/run.ts'
import { followTask } from '../../src/protocols/a2a/official/follow.ts'
import { rpcWriter } from '../../src/protocols/a2a/official/rpc.ts'
import { TaskProjection } from '../../src/protocols/a2a/official/stream.ts'
import { toTask } from '../../src/protocols/a2a/official/task.ts'
import { toTask03 } from '../../src/protocols/a2a/official/version03.ts'
import { dialectProjection } from '../../src/protocols/a2a/stream.ts'
import { AgUiRun } from '../../src/protocols/ag-ui/run.ts'
import { agUiProjection } from '../../src/protocols/ag-ui/stream.ts'
import { chatProjection } from '../../src/protocols/chat/stream.ts'
import { toFrames } from '../../src/protocols/frames.ts'
import { CompletionProjection } from '../../src/protocols/openai/completions/stream.ts'
import type { Projection } from '../../src/protocols/projection.ts'
import { stretchOf } from '../../src/protocols/stretch.ts'
import type { RunService } from '../../src/service/runs/runs.ts'
import { type RecordedRun, recordedRuns } from '../support/protocols/recorded-runs.ts'
import { collect, request, runnable } from '../support/services.ts'
import { foldedTask } from './a2a/official/folded-task.ts'
import { built, openClient, plain } from './chat/client.ts'

/* The runs of the table, executed by servers and read in the stream of each protocol. */

export interface Serving {
  runs: RunService
}

const fileUrl = () => 'unused'
const tasks = (version: '1.0' | '0.3') => (run: RunRecord) => new TaskProjection(run, rpcWriter(version, 7), fileUrl)
export const projections: Record<string, (run: RunRecord) => Projection> = {
  'AI SDK UI': () => chatProjection({ fileAddress: fileUrl, ui5: false }),
  'A2A 1.0': tasks('1.0'),
  'A2A 0.3': tasks('0.3'),
  simple: () => dialectProjection(true),
  'AG-UI': ({ session_id: threadId }) => {
    const named = { threadId, runId: 'r1' }
    return agUiProjection(new AgUiRun({ named, from: 1, isModern: true, fileAddress: fileUrl }), { named })
  },
  'chat completions': ({ session_id: sessionId }) =>
    new CompletionProjection({
      ...{ id: 'chatcmpl-1', model: 'recorded', sessionId },
      ...{ includeUsage: true, isNamed: true, showTools: false },
    }),
}
const protocols = Object.keys(projections)
/** Of the run's first stretch, which is all that they show. */
const ofOneStretch = new Set(['chat completions', 'AG-UI'])
/** A client that comes again begins again. */
const fromStart = new Set([...ofOneStretch, 'simple'])

/** After how many frames a reader is cut; 0: as soon as it is answered. */
export const cuts = [0, 1, 3, 8]

/** The stretches of a run of the table: each ends with its end, or with the answer to its pause. */
function stretchesOf({ events }: RecordedRun): RunEvent[][] {
  const stretches: RunEvent[][] = [[]]
  for (const event of events) {
    if (event.type === 'run_start') continue
    stretches.at(-1)?.push(event)
    if (event.type === 'run_resumed') stretches.push([])
  }
  return stretches
}

/** Half of each stretch of a run is there until the test opens its gate. */
let gate = Promise.withResolvers<void>()
/** Resolves once that half is recorded. */
let half = Promise.withResolvers<void>()

function closeGate(): void {
  gate = Promise.withResolvers()
  half = Promise.withResolvers()
}

export async function startRecorded({ runs }: Serving, { name }: RecordedRun): Promise<string> {
  closeGate()
  return (await runs.start(request('recorded', name, { mode: 'background' }))).runId
}

/** Each stretch once it is under way: `answering` gives the server that answers the pause before it. */
export async function* begunStretches(
  given: RecordedRun,
  runId: string,
  answering: () => Serving,
): AsyncGenerator<RunEvent[]> {
  let answer: RunEvent | undefined
  for (const stretch of stretchesOf(given)) {
    if (answer?.type === 'run_resumed') {
      const { approved, input, answers } = answer
      closeGate()
      await answering().runs.resume(runId, { approved, input, answers, mode: 'background' })
    }
    yield stretch
    answer = stretch.at(-1)
  }
}

/** Emits what the table has for the run of this name, each event once the one before is recorded. */
export const recorded = runnable(async function* ({ text }, context) {
  const answers = context.resumed?.events.filter(({ type }) => type === 'run_resumed').length ?? 0
  const run = recordedRuns.find(({ name }) => name === text) as RecordedRun
  const stretch = stretchesOf(run)[answers] ?? []
  for (const [place, event] of stretch.entries()) {
    if (place === Math.floor(stretch.length / 2)) {
      half.resolve()
      await gate.promise
    }
    if (event.type === 'run_error') throw new AppError(event.error.code as ErrorCode, event.error.message)
    if (event.type === 'run_end' && isStopped(event.status, stretch)) await aborted(context.signal)
    if (event.type === 'run_end' || event.type === 'run_resumed') return
    if (event.type === 'run_start') continue
    const { run_id: _run, seq: _seq, at: _at, ...body } = event
    yield body
    await context.recorded()
  }
})

export const hasAsked = (events: readonly RunEvent[]) => events.some(({ type }) => type === 'input_required')
/** Someone else ends it, while it works. */
export const isStopped = (status: RunStatus, stretch: readonly RunEvent[]) =>
  status === 'interrupted' || (status === 'cancelled' && !hasAsked(stretch))

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

/** The stream of a protocol from the run's start, by its own reader. */
async function open({ runs }: Serving, runId: string, protocol: string): Promise<AsyncIterable<string>> {
  const projection = projections[protocol]?.(await runs.get(runId)) as Projection
  const events = (await runs.events(runId, 0))[Symbol.asyncIterator]()
  const shown = ofOneStretch.has(protocol) ? stretchOf(events, { number: 1 }) : events
  return toFrames(projection, shown, { runId, logger: silentLogger })
}

/** The stream for one who was cut: that of a task begins with the task, the others begin again. */
async function openAgain(instance: Serving, runId: string, protocol: string): Promise<AsyncIterable<string>> {
  if (!protocol.startsWith('A2A')) return open(instance, runId, protocol)
  const projection = projections[protocol]?.(await instance.runs.get(runId)) as TaskProjection
  const events = (await instance.runs.events(runId, 0))[Symbol.asyncIterator]()
  const files = { read: async () => undefined, most: 0 }
  return followTask(projection, events, { runId, logger: silentLogger, files, isQueued: false })
}

async function joined(frames: AsyncIterable<string>, begun = () => {}): Promise<string> {
  let text = ''
  for await (const frame of frames) {
    text += frame
    begun()
  }
  begun()
  return text
}

const framesOf = (text: string) => text.split(/(?<=\n\n)/).filter(Boolean)

/** The first frames of a stream, whose reader then leaves. */
async function cutAfter(count: number, frames: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const frame of frames) {
    text += frame
    if (framesOf(text).length >= count) break
  }
  return count === 0 ? text : framesOf(text).slice(0, count).join('')
}

/** Each protocol's whole stream at an instance. `begun` gets a promise for each: it resolves once the stream has begun. */
export async function wholeAt(
  instance: Serving,
  runId: string,
  begun: Promise<void>[] = [],
): Promise<Record<string, string>> {
  const streams = protocols.map(async (name) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    begun.push(promise)
    return [name, await joined(await open(instance, runId, name), resolve)] as const
  })
  return Object.fromEntries(await Promise.all(streams))
}

/** The object that a client has which read `first` until it was cut, and then `rest`. */
async function objectAfter(protocol: string, first: string, rest: string): Promise<unknown> {
  if (protocol.startsWith('A2A')) return foldedTask(rest)
  if (fromStart.has(protocol)) return rest
  const chat = openClient((method) => (method === 'POST' ? first : rest))
  await chat.sendMessage({ text: 'Hello' })
  await chat.resumeStream()
  expect(chat.messages).toHaveLength(2)
  return plain(chat.lastMessage)
}

/** The same object as who was never cut has it, or who reads it at an instance later. */
async function objectAt({ runs }: Serving, runId: string, protocol: string, whole: string): Promise<unknown> {
  if (fromStart.has(protocol)) return whole
  if (protocol === 'AI SDK UI') return plain(await built(whole))
  const task = toTask(await runs.get(runId), { artifacts: true, contents: new Map(), fileUrl })
  return JSON.parse(JSON.stringify(protocol === 'A2A 0.3' ? toTask03(task) : task))
}

/** Where a run is executed, and where else it is read: the same server, if there is no other. */
export interface Servers {
  home: Serving
  all: readonly [Serving, ...Serving[]]
}

/**
 * One stretch of a run: its streams at all servers, live and later, and those of readers who were cut after `ks` frames and went to the
 * last server.
 */
export async function follow(
  { home, all }: Servers,
  runId: string,
  finish: () => Promise<unknown>,
  ks: readonly number[],
): Promise<void> {
  const last = all.at(-1) as Serving
  const begun: Promise<void>[] = []
  // Nobody reads to the end at a server that is left: who is there then is told so.
  const isLost = !all.includes(home)
  const whole = Promise.all(all.map((instance) => wholeAt(instance, runId, begun)))
  const readers = protocols.flatMap((protocol) => ks.map((k) => ({ protocol, k })))
  const resumed = readers.map(async ({ protocol, k }) => {
    const isBack = Promise.withResolvers<void>()
    if (k === 0 || isLost) begun.push(isBack.promise)
    const first = await cutAfter(k, await open(home, runId, protocol))
    return { protocol, k, first, rest: await joined(await openAgain(last, runId, protocol), isBack.resolve) }
  })
  await Promise.all([...begun, half.promise])
  expect((await last.runs.head(runId)).status).toBe('running')
  gate.resolve()
  await finish()
  const [live, ...others] = (await whole) as [Record<string, string>, ...Record<string, string>[]]
  for (const other of others) expect(other).toEqual(live)
  for (const instance of all) expect(await wholeAt(instance, runId)).toEqual(live)
  for (const { protocol, k, first, rest } of await Promise.all(resumed)) {
    const stream = live[protocol] as string
    expect(stream.startsWith(first)).toBe(true)
    const cut = { protocol, k, object: await objectAfter(protocol, first, rest) }
    expect(cut).toEqual({ protocol, k, object: await objectAt(last, runId, protocol, stream) })
  }
  expect(JSON.stringify(live)).not.toContain('secret')
}

/** The run has the end and the events of the table. */
export async function expectRecorded({ runs }: Serving, runId: string, { run, events }: RecordedRun): Promise<void> {
  const { status, cancellation_reason, error } = await runs.get(runId)
  expect({ status, cancellation_reason, error }).toEqual({
    status: run.status,
    cancellation_reason: run.cancellation_reason,
    error: run.error,
  })
  const shown = events.filter((event) => event.type !== 'text_delta' || event.text !== '')
  const recorded = await collect(await runs.events(runId, 0))
  expect(recorded.map(({ type }) => type)).toEqual(shown.map(({ type }) => type))
}
