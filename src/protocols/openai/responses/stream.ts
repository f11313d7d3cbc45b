import { toAppError } from '../../../core/error.ts'
import { isFinalEvent } from '../../../core/event.ts'
import { encodeEvent } from '../../../core/sse.ts'
import { type Projection, positionOf } from '../../projection.ts'
import type { ResponseEvent } from './item.ts'
import type { ResponseRun } from './run.ts'

const doneFrame = 'data: [DONE]\n\n'
/** The number of a run's first event. */
const firstSeq = 1

/** A response as the stream of OpenAI. Its events have the position of their frame as number. */
export class ResponseStream implements Projection {
  readonly #run: ResponseRun
  #last = -1

  constructor(run: ResponseRun) {
    this.#run = run
  }

  /** The stream of a run that waits for its turn, up to its beginning. `after`: leaves out events up to this number. */
  queued(after = -1): string {
    const frames = this.#encode(this.#run.queued(), firstSeq)
    return frames.filter((_, place) => positionOf(firstSeq, place) > after).join('')
  }

  add(event: Parameters<Projection['add']>[0]): string | string[] {
    const frames = this.#encode(this.#run.add(event), event.seq)
    if (event.type === 'file' || !isFinalEvent(event)) return frames.length === 1 ? (frames[0] ?? '') : frames
    const last = frames.pop() ?? ''
    return [...frames, last + doneFrame]
  }

  broken(error: unknown): string {
    const first = this.#last + 1
    const events = this.#run.broken(toAppError(error).message)
    return events.map((event, place) => encode(event, first + place)).join('') + doneFrame
  }

  /** What has been sent already is left out, with its place. */
  #encode(events: readonly ResponseEvent[], seq: number): string[] {
    const sent = this.#last
    return events.map((event, place) => {
      const position = positionOf(seq, place)
      if (position <= sent) return ''
      this.#last = position
      return encode(event, position)
    })
  }
}

function encode({ type, ...event }: ResponseEvent, sequence_number: number): string {
  return encodeEvent({ event: type, data: { type, sequence_number, ...event } })
}
