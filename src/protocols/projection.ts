import type { FileEvent, RunEvent, Stamp } from '../core/event.ts'
import type { SentFile } from './files.ts'

/** An event as a protocol gets it: without prompts, and a file with its content where the protocol sends contents. */
export type ShownEvent = Exclude<RunEvent, FileEvent> | (SentFile & Stamp)

/**
 * A run as one protocol streams it. Pure and synchronous: the same events give the same frames, live or years later, so ids are
 * derived from the run and its events. A reader that comes later gets the frames from the first event on, less those before
 * its position.
 */
export interface Projection {
  /** The frames of the next event, from the run's first one on; '' when nothing shows. */
  add(event: ShownEvent): string | readonly string[]
  /** Ends a stream whose events ended or failed before the run did: the client must not take it for a whole answer. */
  broken(error: unknown): string
}

/** More frames than any event has. */
const framesOfAnEvent = 1024

/** Where a frame is in a run's stream: grows from frame to frame, with gaps. It survives crashes, as `seq` does. `place` from 0. */
export function positionOf(seq: number, place: number): number {
  return seq * framesOfAnEvent + Math.min(place, framesOfAnEvent - 1)
}
