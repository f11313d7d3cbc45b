import { setTimeout as sleep } from 'node:timers/promises'
import type { Figures } from './measure.ts'

/** Above this, others had too much of the machine for a measurement to count. */
export const mostForeign = 0.15
const settleMs = 300

export interface Row extends Figures {
  /** No round had the machine for itself: the figures are of all. */
  isDisturbed: boolean
}

/** Measures each of them once a round, in turns that go back and forth, and gives the medians of each. */
export async function inTurns<Name extends string>(
  rounds: number,
  measurements: Record<Name, () => Promise<Figures>>,
): Promise<Record<Name, Row>> {
  const names = Object.keys(measurements) as Name[]
  const all = new Map<Name, Figures[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      // What the last one left to do is not for this one to pay.
      await sleep(settleMs)
      all.get(name)?.push(await measurements[name]())
    }
  }
  return Object.fromEntries([...all].map(([name, figures]) => [name, middleOf(figures)])) as Record<Name, Row>
}

function middleOf(all: readonly Figures[]): Row {
  const undisturbed = all.filter(({ foreign }) => foreign <= mostForeign)
  const isDisturbed = undisturbed.length === 0
  const counted = isDisturbed ? all : undisturbed
  const middle = (name: keyof Figures) => median(counted.map((figures) => figures[name]))
  return {
    perSecond: middle('perSecond'),
    p50Ms: middle('p50Ms'),
    p99Ms: middle('p99Ms'),
    nodeMs: middle('nodeMs'),
    postgresMs: middle('postgresMs'),
    commitsPerSecond: middle('commitsPerSecond'),
    commitMs: middle('commitMs'),
    foreign: middle('foreign'),
    isDisturbed,
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const [above = Number.NaN, below = above] = [sorted[middle], sorted[sorted.length - 1 - middle]]
  return (above + below) / 2
}
