import { eventText, isFinalEvent, type RunEvent } from '../../../core/event.ts'
import { stringifyLarge } from '../../../runtime/json.ts'

/**
 * The stored form of a batch. Consecutive fragments are one text with the lengths to cut it by, so that a long answer
 * is not a thousand objects and a reader can still begin at any number.
 */

interface Fragments {
  type: 'text_delta' | 'reasoning_delta'
  seq: number
  at: string
  text: string
  lengths: number[]
  /** Milliseconds after `at`, when they differ. */
  later?: number[]
}
type StoredEvent = Fragments | Omit<RunEvent, 'run_id'>

/** A reader of a page takes whole parts, so a part is not much larger than a page. */
const partCharacters = 16 * 1024
/** Estimated size of an event without its text. */
const usualCharacters = 200

export interface StoredPart {
  firstSeq: number
  /** JSON of its events. */
  text: string
}

export interface StoredBatch {
  firstSeq: number
  lastSeq: number
  /** In order; nearly always one. */
  parts: [StoredPart, ...StoredPart[]]
}

/** Undefined when there is nothing to record: events that are derived from the run's row are skipped. */
export function encodeBatch(events: readonly RunEvent[], after = 1): StoredBatch | undefined {
  const batch = divide(events, after)
  if (batch === undefined) return undefined
  const [first, ...rest] = batch.parts
  return { ...batch, parts: [encodePart(first), ...rest.map(encodePart)] }
}

/** `encodeBatch` for megabytes; yields to the event loop. */
export async function encodeLargeBatch(events: readonly RunEvent[], after = 1): Promise<StoredBatch | undefined> {
  const batch = divide(events, after)
  if (batch === undefined) return undefined
  const [first, ...rest] = batch.parts
  const parts: StoredBatch['parts'] = [{ firstSeq: first.firstSeq, text: await stringifyLarge(first.stored) }]
  for (const { firstSeq, stored } of rest) parts.push({ firstSeq, text: await stringifyLarge(stored) })
  return { ...batch, parts }
}

interface Part {
  firstSeq: number
  stored: StoredEvent[]
}

function encodePart({ firstSeq, stored }: Part): StoredPart {
  return { firstSeq, text: JSON.stringify(stored) }
}

function divide(events: readonly RunEvent[], after: number) {
  const parts: Part[] = []
  let stored: StoredEvent[] = []
  let partFirst = 0
  let characters = 0
  let open: Fragments | undefined
  let firstSeq = 0
  let lastSeq = after
  for (const event of events) {
    if (event.seq <= lastSeq || event.type === 'run_start' || isFinalEvent(event)) continue
    if (firstSeq === 0) firstSeq = event.seq
    if (characters >= partCharacters) {
      parts.push({ firstSeq: partFirst, stored })
      stored = []
      characters = 0
      open = undefined
    }
    if (stored.length === 0) partFirst = event.seq
    characters += eventText(event)?.length ?? usualCharacters
    const follows = open !== undefined && event.seq === lastSeq + 1
    lastSeq = event.seq
    if (!isFragment(event)) {
      const { run_id: _run, ...rest } = event
      stored.push(rest)
      open = undefined
    } else if (follows && open?.type === event.type && extend(open, event.text, event.at)) {
      // The event joined the open fragments.
    } else {
      open = { type: event.type, seq: event.seq, at: event.at, text: event.text, lengths: [event.text.length] }
      stored.push(open)
    }
  }
  if (firstSeq === 0) return undefined
  const last: Part = { firstSeq: partFirst, stored }
  const [first, ...rest] = parts
  const all: [Part, ...Part[]] = first === undefined ? [last] : [first, ...rest, last]
  return { firstSeq, lastSeq, parts: all }
}

const fragmentFields = 5

/** Whether it can be joined with others. One with a field that only a later version knows is kept as it is. */
function isFragment(event: RunEvent): event is Extract<RunEvent, { type: Fragments['type'] }> {
  return (
    (event.type === 'text_delta' || event.type === 'reasoning_delta') && Object.keys(event).length === fragmentFields
  )
}

/** Later versions may have events with fields of these names. */
function isJoined(stored: StoredEvent): stored is Fragments {
  return (stored.type === 'text_delta' || stored.type === 'reasoning_delta') && 'lengths' in stored
}

function extend(open: Fragments, text: string, at: string): boolean {
  if (at !== open.at || open.later !== undefined) {
    const later = Date.parse(at) - Date.parse(open.at)
    if (timeAfter(open.at, later) !== at || timeAfter(open.at, 0) !== open.at) return false
    open.later ??= open.lengths.map(() => 0)
    open.later.push(later)
  }
  open.text += text
  open.lengths.push(text.length)
  return true
}

function timeAfter(at: string, later: number): string | undefined {
  const time = Date.parse(at) + later
  return Number.isFinite(time) ? new Date(time).toISOString() : undefined
}

/** With the fields in the order that live readers get, so that each reader is sent the same bytes. */
export function decodeBatch(runId: string, text: string): RunEvent[] {
  const events: RunEvent[] = []
  for (const stored of JSON.parse(text) as StoredEvent[]) {
    if (!isJoined(stored)) {
      const { seq, at, ...body } = stored
      events.push({ ...body, run_id: runId, seq, at } as RunEvent)
      continue
    }
    const { type, at, lengths, later } = stored
    let from = 0
    for (const [index, length] of lengths.entries()) {
      const seq = stored.seq + index
      const time = later === undefined ? at : (timeAfter(at, later[index] ?? 0) ?? at)
      const text = stored.text.slice(from, from + length)
      events.push(
        type === 'text_delta'
          ? { type, run_id: runId, seq, at: time, text }
          : { type, text, run_id: runId, seq, at: time },
      )
      from += length
    }
  }
  return events
}
