import { AppError } from '../core/error.ts'
import type { EmittedEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import { toJournal } from './json-value.ts'
import { wrong } from './setting-check.ts'
import { approvalId, type Decision, type Journal } from './workflow-journal.ts'
import { isInsideStep } from './workflow-step.ts'

/**
 * Waits until somebody approves: the run pauses as `input_required`, for as long as it takes and over restarts. Gives the
 * `input` that came with the approval. Throws `run_cancelled` when it was refused, which ends the run unless it is caught.
 */
export type Approve = (name: string, data?: unknown) => Promise<Json | undefined>

export function createApprove(
  journal: Journal,
  emit: (event: EmittedEvent) => Promise<void>,
  wait: () => Promise<never>,
): Approve {
  return async (name, data) => {
    if (typeof name !== 'string' || name === '') throw wrong('name', 'approve() needs a name')
    if (isInsideStep()) throw wrong(name, `approve('${name}') stands inside a step, which can't pause; take it out`)
    const { key, number } = journal.occurrence('approval', name)
    const known = journal.enter(key, name)
    if (known?.end !== undefined) return decided(name, (await known.end) as Decision)
    const shown = toJournal(`approve('${name}')`, data)
    const prompt = `Approve '${name}'?`
    const call_id = approvalId(name, number)
    await emit({ type: 'input_required', call_id, prompt, ...(shown === undefined ? {} : { data: shown }) })
    return wait()
  }
}

function decided(name: string, { approved, input }: Decision): Json | undefined {
  if (approved) return input
  const reason = typeof input === 'string' && input !== '' ? `: ${input}` : '.'
  throw new AppError('run_cancelled', `'${name}' was not approved${reason}`)
}
