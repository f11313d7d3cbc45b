import type { Pause } from '../../../core/steps/step.ts'

export interface TimeScale {
  /** Where a time stands, in percent of the width. */
  at(ms: number): number
  /** In ms of work: times that were cut out are not counted. */
  ticks: { at: number; ms: number }[]
  /** Where a time was cut out, and how long it was. */
  cuts: { at: number; ms: number }[]
}

/** Shorter ones say little, and are drawn as they are. */
const shortestCutMs = 1000
/** What stands for a time that is cut out, of the time that is drawn. */
const cutShare = 0.04
/** In percent: words there would be covered. */
const roomOfCut = 16
const mostTicks = 5
const tickSizes = [1, 2, 5]

/** Times in the width that there is. Pauses that would press the work together are cut out. */
export function timeScale(spanMs: number, pauses: readonly Pause[]): TimeScale {
  const waitedMs = pauses.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  const shortestMs = Math.max(shortestCutMs, (spanMs - waitedMs) / 2)
  const cut = pauses.filter(({ fromMs, toMs }) => toMs - fromMs > shortestMs)
  const workMs = Math.max(1, spanMs - cut.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0))
  const widthOfCut = workMs * cutShare
  const whole = workMs + cut.length * widthOfCut
  const at = (ms: number) => {
    let drawn = ms
    for (const { fromMs, toMs } of cut) {
      const passed = Math.max(0, Math.min(ms, toMs) - fromMs)
      drawn += (passed / (toMs - fromMs)) * widthOfCut - passed
    }
    return Math.max(0, Math.min(100, (100 * drawn) / whole))
  }
  const cuts = cut.map(({ fromMs, toMs }) => ({ at: (at(fromMs) + at(toMs)) / 2, ms: toMs - fromMs }))
  const ticks = ticksOf(workMs).map((ms) => ({ ms, at: at(realTime(ms, cut)) }))
  const isFree = (place: number) => cuts.every((one) => place > one.at + roomOfCut / 4 || place < one.at - roomOfCut)
  return {
    at,
    ticks: ticks.filter(({ ms, at: place }) => ms === 0 || isFree(place)),
    cuts,
  }
}

/** The moment at which so much work was done. */
function realTime(workMs: number, cut: readonly Pause[]): number {
  return cut.reduce((ms, { fromMs, toMs }) => (ms > fromMs ? ms + toMs - fromMs : ms), workMs)
}

function ticksOf(workMs: number): number[] {
  const least = workMs / mostTicks
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  const size = tickSizes.map((one) => one * power).find((one) => one >= least) ?? 10 * power
  return Array.from({ length: Math.floor(workMs / size) + 1 }, (_, place) => place * size)
}

/** How much a run that still works may grow before all is drawn at another scale. */
export function spanOf(durationMs: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1000, durationMs)))
  return [1, 1.5, 2, 3, 5, 7.5, 10].map((one) => one * power).find((one) => one > durationMs) ?? durationMs
}
