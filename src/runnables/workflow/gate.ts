import type { Again } from '../../core/again/again.ts'
import type { EmittedEvent } from '../../core/event.ts'
import { approvalId, beside, type Decision, type Journal } from '../base/journal.ts'
import { decided } from './approval.ts'
import type { StepSurroundings } from './step.ts'

/** Before each step of a workflow that repeats another run: the record answers it, or a person allows it. */
export function createGate(
  { after, record }: Again,
  {
    journal,
    state,
    emit,
    wait,
  }: {
    journal: Journal
    state: object
    emit: (event: EmittedEvent) => Promise<void>
    wait: () => Promise<never>
  },
): StepSurroundings['gate'] {
  if (after === 'live') return undefined
  return async (name, occurrence, leave) => {
    const answered = record?.step(name, occurrence)
    if (answered !== undefined) {
      if (answered.state !== undefined) Object.assign(state, answered.state)
      return answered
    }
    const asked = `step ${name} ${occurrence}`
    const { key, number } = journal.next('approval', asked)
    const known = await journal.enter(key, asked, beside)
    if (known !== undefined) {
      decided(name, known as Decision)
      return undefined
    }
    const prompt = `Allow the step '${name}' to run? This run repeats another one.`
    await emit({ type: 'input_required', call_id: approvalId(asked, number), kind: 'approval', prompt, after: beside })
    leave()
    return wait()
  }
}
