import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** Whoever is in a list with the keyboard stays in it, in the row that is active. `place`: what finds it in the list. */
export function useFocusOf(box: RefObject<HTMLElement | null>, place: string): void {
  // Before the row that had it may go.
  useLayoutEffect(() => {
    const element = box.current
    const focused = document.activeElement
    if (element?.contains(focused) !== true || focused?.closest('[role="row"], [role="option"]') === null) return
    element.querySelector<HTMLElement>(place)?.focus({ preventScroll: true })
  }, [box, place])
}
