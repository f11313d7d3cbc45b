import type { ReadonlySignal, Signal } from '@preact/signals'
import type { Run } from '../../wire/run.ts'
import type { Turn } from './conversation.ts'
import type { Moment, RunTree } from './run-tree.ts'

/** A run that has ended or waits, as it was at a moment that moves at its own pace, or where a person puts it. */
export interface Replayed {
  readonly isPlaying: ReadonlySignal<boolean>
  readonly speed: Signal<number>
  /** How many events are shown, of how many. */
  readonly count: ReadonlySignal<number>
  readonly length: number
  readonly moment: Moment
  readonly tree: RunTree
  /** What was known of the run at the moment. */
  runThen<Known extends Run>(run: Known): Known
  /** What was said of it at the moment. */
  turnThen(turn: Turn): Turn
  /** From the beginning, when it is at its end. */
  play(): void
  pause(): void
  /** To a moment, in ms since the run began. */
  goTo(ms: number): void
  /** To another event: 1 is the next one, -1 the one before. */
  step(by: number): void
}
