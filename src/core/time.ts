/** Milliseconds since the epoch. Passed in, so that tests decide what time it is. */
export type Clock = () => number

let lastMs = -1
let lastText = ''

/** RFC 3339 in UTC with milliseconds. */
export function timestamp(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms
    lastText = new Date(ms).toISOString()
  }
  return lastText
}
