import { AppError, logLevelOf } from '../core/error.ts'
import { isFinalEvent, type RunEvent } from '../core/event.ts'
import { toWireEvent } from '../core/events/sent-event.ts'
import type { Logger } from '../core/logger.ts'
import { filePartOf } from '../core/message.ts'
import { type ReadFile, withContent } from './files.ts'
import { type Projection, positionOf } from './projection.ts'

export type Batch = readonly RunEvent[]

export interface FramesOptions {
  runId: string
  logger: Logger
  /** Batches that have been read before `events`. */
  first?: Batch | undefined
  /** Sent before all others: frames of events that have been read before. */
  opening?: string | undefined
  /** The run's end is among those events. */
  isOver?: boolean | undefined
  /** Leaves out the frames up to this position (`positionOf`). */
  after?: number | undefined
  /** Files come with their contents up to `most` bytes each, one in memory at a time. */
  files?: { read: ReadFile; most: number } | undefined
}

/**
 * The frames of a run in a protocol. One value per batch, up to a file; the first may be empty: it sends the headers to clients that
 * follow the run by its id. It always ends with the frames of the run's end, or with those of `broken`. A hand-written iterator
 * for the reason given at `mapBatches`.
 */
export function toFrames(
  projection: Projection,
  events: AsyncIterator<Batch>,
  { runId, logger, first, opening, isOver = false, after = -1, files }: FramesOptions,
): AsyncIterable<string> {
  let pending = first
  let isFirst = true
  let unopened = opening
  let ended = isOver
  let left = false

  function add(event: Parameters<Projection['add']>[0]): string {
    const frames = projection.add(event)
    if (typeof frames === 'string') return positionOf(event.seq, 0) > after ? frames : ''
    let text = ''
    for (const [place, frame] of frames.entries()) if (positionOf(event.seq, place) > after) text += frame
    return text
  }

  async function read(): Promise<string | undefined> {
    if (unopened !== undefined && !left) {
      const frames = unopened
      unopened = undefined
      isFirst = false
      return frames
    }
    while (!ended) {
      const next = pending === undefined ? await events.next() : { done: false, value: pending }
      pending = undefined
      if (left) return undefined
      if (next.done) {
        ended = true
        return projection.broken(new AppError('run_failed', 'the stream ended before the run did', { runId }))
      }
      const batch: Batch = next.value
      const place = files === undefined ? -1 : batch.findIndex(isStoredFile)
      let frames = ''
      for (const event of place === -1 ? batch : batch.slice(0, place)) frames += add(toWireEvent(event, false))
      const file = batch[place]
      if (file?.type === 'file' && files !== undefined) {
        const { run_id, seq, at } = file
        frames += add({ ...(await withContent(filePartOf(file), files.read, files.most)), run_id, seq, at })
        if (place + 1 < batch.length) pending = batch.slice(place + 1)
      }
      ended = pending === undefined && hasEnded(batch)
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
          logger[logLevelOf(error)]({ err: error, run_id: runId }, "a run's stream failed")
          return { done: false, value: projection.broken(error) }
        }
      },
      async return() {
        ended = true
        left = true
        await events.return?.()
        return { done: true, value: undefined }
      },
    }),
  }
}

function isStoredFile(event: RunEvent): boolean {
  return event.type === 'file' && event.file_id !== undefined
}

function hasEnded(batch: Batch): boolean {
  const last = batch.at(-1)
  return last !== undefined && isFinalEvent(last)
}
