/** While the page changes, the focus stays: when what had it goes or can't be used any more, what was around it has it. */
export function keepFocus(): () => void {
  /** What has the focus and what is around it, from the inside. */
  let held: HTMLElement[] = []
  const remember = ({ target }: FocusEvent) => {
    held = []
    for (let one = target; one instanceof HTMLElement; one = one.parentElement) held.push(one)
  }
  const changes = new MutationObserver(() => {
    const [focused, ...around] = held
    if (focused === undefined || (focused.isConnected && !focused.matches(':disabled'))) return
    if (![null, document.body, focused].includes(document.activeElement as HTMLElement | null)) return
    const place = around.find((one) => one.isConnected && one.matches('[tabindex]') && one.checkVisibility())
    place?.focus({ preventScroll: true })
  })
  document.addEventListener('focusin', remember)
  changes.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] })
  return () => {
    document.removeEventListener('focusin', remember)
    changes.disconnect()
  }
}
