import { placeAfter } from './list-keys.ts'

/** Moves the focus as the key says; false for a key that moves nothing. */
export function moveFocus(event: KeyboardEvent, rows: readonly HTMLElement[]): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false
  const place = rows.findIndex((row) => row.contains(document.activeElement))
  const next = placeAfter(event.key, place, rows.length)
  if (next === undefined) return false
  rows[next]?.focus()
  event.preventDefault()
  return true
}
