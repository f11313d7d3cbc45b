/**
 * From now on the second click of a double click presses no button: another one may be in its place by then, such as the one that
 * stops what the first began. `data-many` marks those that may be pressed quickly.
 */
export function ignoreSecondClicks(): void {
  const ignore = (event: MouseEvent) => {
    const { detail, target } = event
    if (detail < 2 || !(target instanceof Element) || target.closest('button:not([data-many])') === null) return
    event.preventDefault()
    event.stopPropagation()
  }
  document.addEventListener('click', ignore, true)
}
