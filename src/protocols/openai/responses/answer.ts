import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '../../../core/error.ts'
import type { RunEndEvent, RunErrorEvent, RunEvent } from '../../../core/event.ts'
import { toWireEvent } from '../../../core/events/sent-event.ts'
import { filePartOf } from '../../../core/message.ts'
import type { Run } from '../../../core/run.ts'
import { explainEnd } from '../../explain-end.ts'
import { fileReader, withContent } from '../../files.ts'
import { type Batch, toFrames } from '../../frames.ts'
import { stretchOf } from '../../stretch.ts'
import type { OpenAIServices } from '../openai.ts'
import { EarlierCalls } from './earlier.ts'
import { recordedEvents } from './find.ts'
import { type ResponseObject, type ResponseRecord, ResponseRun } from './run.ts'
import { ResponseStream } from './stream.ts'

/** A response and where its events are read. */
export interface Reading {
  services: Pick<OpenAIServices, 'runs' | 'sessions' | 'logger'>
  run: ResponseRecord & Pick<Run, 'status'>
  /** From 1. */
  stretch: number
  /** How much content of a file an answer may have. */
  fileBytes: number
}

type Ended = (RunEndEvent | RunErrorEvent) | undefined

/** `events`: all of the run. */
function open({ run, stretch }: Reading, events: AsyncIterable<Batch>) {
  const earlier = stretch > 1 ? new EarlierCalls() : undefined
  const own = events[Symbol.asyncIterator]()
  const response = new ResponseRun(run, stretch, earlier)
  return { response, events: stretchOf(earlier?.watch(own) ?? own, { number: stretch }) }
}

/** The stream of a response. `after`: the number of the last event that the client has. */
export async function streamOf(
  reading: Reading,
  events: AsyncIterable<Batch>,
  after?: number,
): Promise<AsyncIterable<string>> {
  const { services, run, stretch, fileBytes } = reading
  const { response, events: own } = open(reading, events)
  const stream = new ResponseStream(response)
  const isQueued = run.status === 'queued' && stretch === 1
  // What was queued shows by the time that it waited, which is at least a millisecond then.
  if (isQueued) while (Date.now() <= Date.parse(run.created_at)) await pause(1)
  const files = { read: fileReader(services.sessions, run.session_id), most: fileBytes }
  const opening = isQueued ? stream.queued(after) : undefined
  return toFrames(stream, own, { runId: run.run_id, logger: services.logger, opening, after, files })
}

/** Folds the events until they end, or until now if they are the recorded ones. */
async function fold(reading: Reading, events: AsyncIterable<Batch>): Promise<{ response: ResponseRun; ended: Ended }> {
  const { services, run, fileBytes } = reading
  const { response, events: own } = open(reading, events)
  const read = fileReader(services.sessions, run.session_id)
  let ended: Ended
  for (let next = await own.next(); !next.done; next = await own.next()) {
    for (const event of next.value) {
      response.add(await shown(event, (part) => withContent(part, read, fileBytes)))
      if (event.type === 'run_end' || event.type === 'run_error') ended = event
    }
  }
  return { response, ended }
}

type Shown = Parameters<ResponseRun['add']>[0]

function shown(
  event: RunEvent,
  withBytes: (part: ReturnType<typeof filePartOf>) => Promise<object>,
): Shown | Promise<Shown> {
  if (event.type !== 'file') return toWireEvent(event, false) as Shown
  const { run_id, seq, at } = event
  return withBytes(filePartOf(event)).then((part) => ({ ...part, run_id, seq, at }) as Shown)
}

/** The response as it is now; undefined when the run has no such response. */
export async function objectOf(reading: Reading): Promise<ResponseObject | undefined> {
  const { services, run, stretch } = reading
  // Its record has the first event before it begins.
  const isQueued = run.status === 'queued' && stretch === 1
  if (isQueued) return new ResponseRun(run, stretch).object()
  const { response } = await fold(reading, recordedEvents(services, run))
  const object = response.object()
  if (object.status !== 'queued') return object
  return stretch > 1 ? undefined : { ...object, status: 'in_progress' }
}

/** The response when it has ended. Throws when it failed: a client that asked for an answer must not take it for one. */
export async function resultOf(reading: Reading, events: AsyncIterable<Batch>): Promise<ResponseObject> {
  const { run_id: runId, session_id: sessionId } = reading.run
  const about = { runId, sessionId }
  const { response, ended } = await fold(reading, events)
  if (ended === undefined) throw new AppError('run_failed', 'the events ended before the run did', about)
  if (ended.type === 'run_error') {
    throw new AppError(ended.error.code === 'run_limit' ? 'run_limit' : 'run_failed', ended.error.message, about)
  }
  const { status, cancellation_reason: reason = null } = ended
  const why = () => explainEnd({ run_id: runId, status, error: null, cancellation_reason: reason })
  if (status === 'interrupted') throw new AppError('run_interrupted', why(), about)
  if (status === 'cancelled' && reason === 'timeout') throw new AppError('timeout', why(), about)
  return response.object()
}
