import { signal } from '@preact/signals'
import { StepRecords } from '../../../core/steps/records.ts'
import { RunSteps } from '../../../core/steps/steps.ts'
import type { RunEvent } from '../../../wire/event.ts'

/** A run's events as they come, with all that is drawn of them. Each event is folded once. */
export class RunEvents {
  readonly all: RunEvent[] = []
  readonly steps = new RunSteps()
  readonly records = new StepRecords()
  /** Grows with each event, also with a piece of text. */
  readonly changes = signal(0)
  /** Of the last event. */
  seq = 0
  /** Whether the last event changed what is drawn of the steps. */
  isDrawnAnew = false

  /**
   * Whether a live event may be added. The stream may still hand over what comes late in a run that is only now followed from its
   * beginning: with it the events between would be lost.
   */
  follows(event: RunEvent): boolean {
    return this.seq > 0 || event.seq === 1
  }

  /** False for events that it has already. */
  add(event: RunEvent): boolean {
    if (event.seq <= this.seq) return false
    this.seq = event.seq
    this.all.push(event)
    this.isDrawnAnew = this.steps.add(event)
    this.records.add(event)
    // Last, since effects look at once.
    this.changes.value++
    return true
  }

  /** The run has said how it ended or paused. */
  get isOver(): boolean {
    const { status } = this.steps.totals
    return status !== undefined && status !== 'running' && status !== 'queued'
  }
}
