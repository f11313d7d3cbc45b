import type { RunEvent } from '../../wire/event.ts'
import { RunSteps } from './steps.ts'

/** A run's events as they come, with all that is drawn of them. Each event is folded once. */
export class RunEvents {
  readonly all: RunEvent[] = []
  readonly steps = new RunSteps()
  /** Of the last event. */
  seq = 0

  /** False for events that it has already. */
  add(event: RunEvent): boolean {
    if (event.seq <= this.seq) return false
    this.seq = event.seq
    this.all.push(event)
    this.steps.add(event)
    return true
  }

  /** The run has said how it ended or paused. */
  get isOver(): boolean {
    const { status } = this.steps.totals
    return status !== undefined && status !== 'running' && status !== 'queued'
  }
}
