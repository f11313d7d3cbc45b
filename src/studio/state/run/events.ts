import { signal } from '@preact/signals'
import type { RunEvent } from '../../../core/event.ts'
import { StepRecords } from '../../../core/steps/records.ts'
import { RunSteps } from '../../../core/steps/steps.ts'

/** A run's steps and answer, whose `changes` draw anew. */
export class LiveSteps extends RunSteps {
  override readonly changes = signal(0)
}

/** The same with its events, all of them. */
export class RunEvents extends StepRecords {
  readonly all: RunEvent[] = []
  override readonly changes = signal(0)

  override add(event: RunEvent): boolean {
    if (event.seq > this.seq) this.all.push(event)
    return super.add(event)
  }
}
