/** Calls again and again while the page is seen, and at once when it is seen again, until the function that it returns is called. */
export function repeatWhileSeen(call: () => void, everyMs: number): () => void {
  let timer: ReturnType<typeof setInterval> | undefined
  const isSeen = () => document.visibilityState !== 'hidden'
  const begin = () => {
    clearInterval(timer)
    if (isSeen()) timer = setInterval(call, everyMs)
  }
  const changed = () => {
    begin()
    if (isSeen()) call()
  }
  begin()
  document.addEventListener('visibilitychange', changed)
  return () => {
    clearInterval(timer)
    document.removeEventListener('visibilitychange', changed)
  }
}
