import type { TargetedKeyboardEvent } from 'preact'
import { placeAfter } from './list-keys.ts'

/** Moves the focus among what `rows` selects below the element that has the listener. The brackets go to another step of a run. */
export function moveFocus(event: TargetedKeyboardEvent<HTMLElement>, rows: string): void {
  const { key } = event
  if (event.ctrlKey || event.metaKey || event.altKey || key === '[' || key === ']') return
  const all = [...event.currentTarget.querySelectorAll<HTMLElement>(rows)]
  const place = all.findIndex((row) => row.contains(document.activeElement))
  const next = placeAfter(key, place, all.length)
  if (next === undefined) return
  all[next]?.focus()
  event.preventDefault()
}
