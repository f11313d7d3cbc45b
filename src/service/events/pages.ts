import { eventText, type RunEvent } from '../../core/event.ts'

/** Maximum page size: the pages of a thousand stalled readers must fit into memory. */
const pageCharacters = 32 * 1024
const maxEvents = 500
const firstEvents = 64
/** Estimated size of an event without text. */
const usualCharacters = 200

/** The page of events from this index on; at least one event, if there is one. */
export function pageFrom(events: readonly RunEvent[], from: number): RunEvent[] {
  let characters = 0
  let end = from
  while (end < events.length && end - from < maxEvents && (end === from || characters < pageCharacters)) {
    characters += charactersOf(events[end])
    end++
  }
  return events.slice(from, end)
}

/** How many events to read after this page; without a page: for the first one. */
export function nextLimit(page?: readonly RunEvent[]): number {
  if (page === undefined || page.length === 0) return firstEvents
  const characters = page.reduce((sum, event) => sum + charactersOf(event), 0)
  return Math.max(1, Math.min(maxEvents, Math.floor((pageCharacters * page.length) / characters)))
}

function charactersOf(event: RunEvent | undefined): number {
  if (event === undefined) return 0
  const text = eventText(event)
  if (text !== undefined) return usualCharacters + text.length
  if (event.type === 'tool_result' || event.type === 'tool_call' || event.type === 'model_call_start')
    return 20 * usualCharacters
  return usualCharacters
}
