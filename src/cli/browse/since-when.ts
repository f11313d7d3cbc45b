import { howLongAgo, localTime } from '../terminal/when.ts'

/** How long ago, in at most ten characters; the local date after one week. */
export function sinceWhen(at: string, now: number): string {
  return howLongAgo(at, now) ?? localTime(at).slice(0, 10)
}
