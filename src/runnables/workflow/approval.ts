import { AppError } from '../../core/error.ts'
import type { EmittedEvent, InputRequired } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import { wrong } from '../../schema/check.ts'
import { approvalId, type Decision, type Journal } from '../base/journal.ts'
import { toJournal } from '../base/json-value.ts'
import { isInsideStep, moveTo } from './step.ts'

/**
 * Waits for an approval: the run pauses as `input_required`, also over restarts. Resolves with the `input` of the
 * approval. Throws `run_cancelled` when it was refused, which ends the run unless it is caught.
 */
export type Approve = (name: string, data?: unknown) => Promise<Json | undefined>

export function createApprove(
  journal: Journal,
  emit: (event: EmittedEvent) => Promise<void>,
  wait: () => Promise<never>,
): Approve {
  return (name, data) => {
    if (typeof name !== 'string' || name === '') throw wrong('name', 'approve() needs a name')
    if (isInsideStep())
      throw wrong(name, `approve('${name}') was called inside a step, which can't pause; call it outside the step`)
    const { key, number } = journal.next('approval', name)
    const id = approvalId(name, number)
    const { after } = moveTo(id)
    const ask = async () => {
      const known = await journal.enter(key, name, after)
      if (known !== undefined) return decided(name, known as Decision)
      const asked: InputRequired = {
        type: 'input_required',
        call_id: id,
        kind: 'approval',
        prompt: `Approve '${name}'?`,
      }
      const shown = toJournal(`approve('${name}')`, data)
      if (shown !== undefined) asked.data = shown
      if (after !== undefined) asked.after = after
      await emit(asked)
      return wait()
    }
    return ask()
  }
}

/** Throws `run_cancelled` when it was refused. */
export function decided(name: string, { approved, input, reason }: Decision): Json | undefined {
  if (approved) return input
  const why = reason ?? (typeof input === 'string' ? input : '')
  throw new AppError('run_cancelled', `'${name}' was not approved${why === '' ? '.' : `: ${why}`}`)
}
