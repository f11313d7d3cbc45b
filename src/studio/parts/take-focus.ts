import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** On a narrow screen a new page of the stack hides what had the focus: then this has it. */
export function useFocusOfHidden(place: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    if (document.activeElement?.checkVisibility() === false) place.current?.focus()
  }, [place])
}
