import type { RunEndEvent, RunErrorEvent, RunEvent } from '../../core/event.ts'
import { isFinalEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { Logger } from '../../core/logger.ts'
import { filePartOf } from '../../core/message.ts'
import { encodeData } from '../../core/sse.ts'
import { describeError, rpcCodes } from './error.ts'
import { type ReadFile, type SentFile, withContent } from './files.ts'
import { explainEnd } from './task.ts'

const doneFrame = encodeData({ type: 'done' })

function contentFrame(text: string): string {
  return `data: {"type":"content","content":${JSON.stringify(text)}}\n\n`
}

/** The dialect streams text only, so data is JSON text. */
function dataFrame(data: Json | SentFile, markData: boolean): string {
  const content = JSON.stringify(data)
  return markData ? encodeData({ type: 'content', content, part: 'data' }) : contentFrame(content)
}

function errorFrame(code: number, message: string): string {
  return encodeData({ type: 'error', code, message })
}

export type Batch = readonly RunEvent[]

export interface StreamOptions {
  runId: string
  logger: Logger
  /** Tells data from text. */
  markData: boolean
  readFile: ReadFile
  /** How much content a file may have to be sent. */
  fileBytes: number
}

/** A2A's code and text for a run that failed; undefined for a completed one. */
export function failureOf(
  event: RunEndEvent | RunErrorEvent,
  runId: string,
): { code: number; message: string } | undefined {
  if (event.type === 'run_error') return { code: rpcCodes.internalError, message: event.error.message }
  if (event.status === 'completed') return undefined
  const reason = event.cancellation_reason ?? null
  const message = explainEnd({ run_id: runId, status: event.status, error: null, cancellation_reason: reason })
  return { code: rpcCodes.internalError, message }
}

/** The first final event of a batch that otherwise has at most the run's start. */
export function onlyFailure(batch: Batch): { code: number; message: string } | undefined {
  for (const event of batch) {
    if (isFinalEvent(event)) return failureOf(event, event.run_id)
    if (event.type !== 'run_start') return undefined
  }
  return undefined
}

/** Whether a batch has more events than the run's start. */
export function hasBegun(batch: Batch): boolean {
  return batch.some((event) => event.type !== 'run_start')
}

/**
 * The run as A2A's stream: one `content` per text fragment and data part (as JSON), then `error` unless the run
 * completed, then `done`. The frames of a batch are one value, up to a file. The first value may be empty: it sends the headers to
 * clients that follow the run by its id. A hand-written iterator for the reason given at `mapBatches`.
 */
export function toFrames(
  first: Batch,
  rest: AsyncIterator<Batch>,
  { runId, logger, markData, readFile, fileBytes }: StreamOptions,
): AsyncIterable<string> {
  let pending: Batch | undefined = first
  let isFirst = true
  let ended = false
  let left = false

  async function read(): Promise<string | undefined> {
    while (!ended) {
      const next = pending === undefined ? await rest.next() : { done: false, value: pending }
      pending = undefined
      if (left) return undefined
      if (next.done) {
        ended = true
        return errorFrame(rpcCodes.internalError, 'the stream ended before the run did') + doneFrame
      }
      // Only one file is in memory at a time.
      const place = next.value.findIndex(isStoredFile)
      const [file] = place === -1 ? [] : next.value.slice(place, place + 1)
      let frames = framesOf(place === -1 ? next.value : next.value.slice(0, place), runId, markData)
      if (file?.type === 'file') {
        frames += dataFrame(await withContent(filePartOf(file), readFile, fileBytes), markData)
        if (place + 1 < next.value.length) pending = next.value.slice(place + 1)
      }
      ended = pending === undefined && hasEnded(next.value)
      if (left) return undefined
      const wasFirst = isFirst
      isFirst = false
      if (frames !== '' || wasFirst) return frames
    }
    return undefined
  }

  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        try {
          const value = await read()
          return value === undefined ? { done: true, value } : { done: false, value }
        } catch (error) {
          ended = true
          logger.error({ err: error, run_id: runId }, 'an A2A stream failed')
          const { code, message } = describeError(error)
          return { done: false, value: errorFrame(code, message) + doneFrame }
        }
      },
      async return() {
        ended = true
        left = true
        await rest.return?.()
        return { done: true, value: undefined }
      },
    }),
  }
}

function framesOf(batch: Batch, runId: string, markData: boolean): string {
  let frames = ''
  for (const event of batch) {
    if (event.type === 'text_delta') {
      if (event.text !== '') frames += contentFrame(event.text)
    } else if (event.type === 'file') frames += dataFrame(filePartOf(event), markData)
    else if (event.type === 'data') frames += dataFrame(event.data, markData)
    else if (isFinalEvent(event)) {
      const failure = failureOf(event, runId)
      if (failure !== undefined) frames += errorFrame(failure.code, failure.message)
      frames += doneFrame
    }
  }
  return frames
}

function isStoredFile(event: RunEvent): boolean {
  return event.type === 'file' && event.file_id !== undefined
}

function hasEnded(batch: Batch): boolean {
  const last = batch.at(-1)
  return last !== undefined && isFinalEvent(last)
}
