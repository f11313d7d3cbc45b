import { toAppError } from '../../core/error.ts'
import { isFinalEvent } from '../../core/event.ts'
import { toWireEvent } from '../../core/events/sent-event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Batch } from '../frames.ts'
import type { Projection } from '../projection.ts'
import { stretchOf } from '../stretch.ts'
import { encodeEvents, started } from './event.ts'
import { AgUiRun, type AgUiRunOptions } from './run.ts'

/** A stretch of a run as the stream of AG-UI: what it shows, and the events to show. */
export interface AgUiStream {
  projection: Projection
  events: AsyncIterator<Batch>
}

/**
 * `events`: all of the run. `readState`: the session's state as it is now, which is shown at the end if it is another than at the
 * beginning; undefined when there is none to be had.
 */
export function agUiStream(
  options: AgUiRunOptions,
  events: AsyncIterator<Batch>,
  readState?: () => Promise<JsonObject | null | undefined>,
): AgUiStream {
  const run = new AgUiRun(options)
  const stretch = stretchOf(before(events, options.from, run), { from: options.from })
  return {
    projection: agUiProjection(run, options),
    events: readState === undefined ? stretch : withState(stretch, run, readState),
  }
}

export function agUiProjection(
  run: AgUiRun,
  { named, isBegun = false }: Pick<AgUiRunOptions, 'named' | 'isBegun'>,
): Projection {
  let hasBegun = isBegun
  return {
    add(event) {
      const shown = run.add(event)
      if (shown.length === 0) return ''
      hasBegun = true
      return encodeEvents(shown)
    },
    broken(error) {
      const { code, message } = toAppError(error)
      return encodeEvents([...(hasBegun ? [] : [started(named)]), ...run.broken(code, message)])
    },
  }
}

/** The same events; those before the stretch are taken in by the run, which shows nothing of them. */
function before(events: AsyncIterator<Batch>, from: number, run: AgUiRun): AsyncIterator<Batch> {
  return {
    async next() {
      const read = await events.next()
      if (!read.done) for (const event of read.value) if (event.seq < from) run.add(toWireEvent(event, false))
      return read
    },
    return: async () => (await events.return?.()) ?? { done: true, value: undefined },
  }
}

/** The same events; the last one of the stretch comes by itself, when the run has the state that it ends with. */
function withState(
  events: AsyncIterator<Batch>,
  run: AgUiRun,
  readState: () => Promise<JsonObject | null | undefined>,
): AsyncIterator<Batch> {
  let held: Batch | undefined
  return {
    async next() {
      const read = held === undefined ? await events.next() : { done: false as const, value: held }
      held = undefined
      if (read.done) return read
      const { value } = read
      const last = value.at(-1)
      if (last === undefined || !isFinalEvent(last)) return read
      if (value.length === 1) run.state = await readState()
      else held = [last]
      return held === undefined ? read : { done: false, value: value.slice(0, -1) }
    },
    return: async () => (await events.return?.()) ?? { done: true, value: undefined },
  }
}
