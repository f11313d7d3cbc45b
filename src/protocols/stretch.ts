import { AppError } from '../core/error.ts'
import type { RunEvent, RunResumedEvent, Stamp } from '../core/event.ts'
import { addUsage, type Usage } from '../core/run.ts'
import type { RunHandle } from '../service/services.ts'
import type { Batch } from './frames.ts'

/*
 * A stretch of a run: from its start, or from an answer to what it waited for, up to the next pause or its end. A run that paused n
 * times has n + 1 of them. Protocols whose unit ends with a pause show one stretch each; the others show the run.
 */

/** By its number from 1, or by the `seq` of its first event. */
export type WhichStretch = { number: number } | { from: number }

/**
 * The events of one stretch, ended by the pause if that is how it ended: in the record the resumption took the place of the pause's
 * end, so it is made again from what the resumption says of it. Nothing when the run has no such stretch (yet). An interrupted run
 * that was resumed goes on within its stretch.
 */
export function stretchOf(events: AsyncIterator<Batch>, which: WhichStretch): AsyncIterator<Batch> {
  let number = 1
  let isOver = false

  function take(batch: Batch): RunEvent[] {
    const taken: RunEvent[] = []
    for (const event of batch) {
      if (isResumption(event)) {
        if (isIn()) {
          taken.push(pauseBefore(event))
          isOver = true
          break
        }
        number++
        if ('from' in which && event.seq === which.from) begun = true
      }
      if (isIn()) taken.push(event)
    }
    return taken
  }
  let begun = 'from' in which && which.from <= 1
  const isIn = () => ('number' in which ? number === which.number : begun)

  return {
    async next() {
      while (!isOver) {
        const read = await events.next()
        if (read.done) return read
        const value = take(read.value)
        if (value.length > 0) return { done: false, value }
      }
      await events.return?.()
      return { done: true, value: undefined }
    },
    async return() {
      isOver = true
      await events.return?.()
      return { done: true, value: undefined }
    },
  }
}

/** The number of the stretch that begins with the event `from`, read from the run's first event on. */
export async function stretchNumber(events: AsyncIterator<Batch>, from: number): Promise<number> {
  let number = 1
  for (;;) {
    const read = await events.next()
    if (read.done) return number
    for (const event of read.value) {
      if (event.seq > from) {
        await events.return?.()
        return number
      }
      if (isResumption(event)) number++
    }
    if ((read.value.at(-1)?.seq ?? 0) < from) continue
    await events.return?.()
    return number
  }
}

/** The number with which the stretch begins that the handle is about. */
export async function firstSeqOf({ runId, events }: Pick<RunHandle, 'runId' | 'events'>): Promise<number> {
  for await (const [event] of events()) if (event !== undefined) return event.seq
  throw new AppError('run_failed', 'The run has no events.', { runId })
}

/** What a stretch has used: the calls and steps in it. The end of a run has the sum of all stretches. */
export function addStretchUsage(sum: Usage | null, event: { type: string }): Usage | null {
  const { usage } = event as { usage?: Usage | null }
  const counts = event.type === 'model_call_end' || event.type === 'step_end'
  return counts && usage ? addUsage(sum, usage) : sum
}

type Resumption = RunResumedEvent & Stamp

function isResumption(event: RunEvent): event is Resumption {
  return event.type === 'run_resumed' && event.from === 'input_required'
}

/** Its usage is that of the whole run, which is not known here: see `addStretchUsage`. */
function pauseBefore({ run_id, seq, at, paused }: Resumption): RunEvent {
  const stamp = paused ?? { seq: seq - 1, at }
  return { type: 'run_end', run_id, ...stamp, status: 'input_required', usage: null, cache_hit: false }
}
