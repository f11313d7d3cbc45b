import type { EmittedEvent, FileEvent } from '../event.ts'

/*
 * What servers of an earlier version don't know. During an update they share the record with newer ones, and run on it alone when the
 * update is taken back. So it is recorded and sent only while all servers of the store know it.
 */

export interface NewerEvent {
  /** The step of the tables on Postgres that came with the first version that knows the type (`schema/steps.ts`). */
  step: number
  /**
   * What takes its place while an older server lives; default: nothing. A type that is older itself may be here for new values of
   * its fields: then it gives the event without them.
   */
  instead?: (event: EmittedEvent) => Exclude<EmittedEvent, FileEvent> | undefined
}

/** By type. It is empty while no type is newer than the first version. */
export const newerEvents = new Map<EmittedEvent['type'], NewerEvent>()

/** Whether every server of the store knows a step of the tables. Absent where a store has one server at a time. */
export type AllKnow = ((step: number) => boolean) | undefined

/** What may be recorded and sent of an event now; undefined: nothing. For other data, ask `allKnow` before it is written. */
export function sendable<EVENT extends EmittedEvent>(event: EVENT, allKnow: AllKnow) {
  const newer = newerEvents.get(event.type)
  return newer === undefined || allKnow === undefined || allKnow(newer.step) ? event : newer.instead?.(event)
}
