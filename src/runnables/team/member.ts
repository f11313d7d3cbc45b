import { AppError } from '../../core/error.ts'
import type { EmittedEvent, InputRequired, RunEvent, StepEnd } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import { contentOf, promptText, textOf } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import type { ChildRun, MemberAnswer, RunContext, RunInput, Runnable } from '../../core/runnable.ts'
import { requestOfChild } from '../../core/waiting.ts'
import { usageOfRuns } from '../base/child-usage.ts'
import type { Journal } from '../base/journal.ts'

export interface Member {
  /** Its id or its own name; unique in the team. */
  name: string
  entity: string | Runnable
}

export interface TeamRun {
  context: RunContext
  journal: Journal
  emit: (event: EmittedEvent) => Promise<void>
}

/** A member's answer, or the requests that its run waits for. */
export type MemberOutcome = { text: string } | { runId: string; asks: readonly InputRequired[] }

export function entityOf({ entity }: Member, context: RunContext): Runnable {
  return typeof entity === 'string' ? context.entity(entity) : entity
}

/** Asks a member as the next step of its name. A recorded answer is reused, a waiting member is resumed. */
export async function askNext(
  run: TeamRun,
  member: Member,
  input: RunInput,
  aloud: boolean,
  answers?: readonly MemberAnswer[],
): Promise<MemberOutcome> {
  const { key, id } = run.journal.next('step', member.name)
  const known = await run.journal.enter(key, member.name)
  if (known !== undefined) {
    const { status, output, error } = known as StepEnd
    if (status === 'failed') throw new AppError('run_failed', error?.message ?? 'The member failed.')
    return { text: typeof output === 'string' ? output : '' }
  }
  const waits = id === undefined ? undefined : childOf(run.context, ({ step_id }) => step_id === id)
  return waits === undefined ? ask(run, member, input, aloud, answers) : goOn(run, member, waits, aloud, answers)
}

/** Runs a member as a step of the team's run. `aloud`: its output is the team's output. */
export async function ask(
  run: TeamRun,
  member: Member,
  input: RunInput,
  aloud: boolean,
  answers?: readonly MemberAnswer[],
): Promise<MemberOutcome> {
  const child = await run.context.child(entityOf(member, run.context), { entityId: member.name, input, answers })
  return follow(run, member, child, createId('step'), aloud)
}

export async function goOn(
  run: TeamRun,
  member: Member,
  waits: WaitingMember,
  aloud: boolean,
  answers?: readonly MemberAnswer[],
): Promise<MemberOutcome> {
  const child = await run.context.child(entityOf(member, run.context), { runId: waits.runId, answers })
  return follow(run, member, child, waits.stepId, aloud)
}

interface WaitingMember {
  runId: string
  stepId: string
}

/** The newest run of the member for this step. */
export function childOf(
  { resumed }: RunContext,
  isMeant: (start: Extract<RunEvent, { type: 'step_start' }>) => boolean,
): (WaitingMember & { name: string }) | undefined {
  const start = resumed?.events.findLast((event) => event.type === 'step_start' && isMeant(event))
  if (start?.type !== 'step_start' || start.child_run_id === undefined) return undefined
  return { runId: start.child_run_id, stepId: start.step_id, name: start.name }
}

async function follow(
  run: TeamRun,
  { name }: Member,
  child: ChildRun,
  step_id: string,
  aloud: boolean,
): Promise<MemberOutcome> {
  const startedAt = Date.now()
  await run.emit({ type: 'step_start', step_id, name, child_run_id: child.runId })
  const asks: InputRequired[] = []
  for await (const batch of child.events()) {
    for (const { run_id: _run, seq: _seq, at: _at, ...event } of batch) {
      if (event.type === 'input_required') asks.push(requestOfChild(child.runId, event))
      else if (aloud && isSaid(event)) await run.emit(event)
    }
  }
  const result = await child.result()
  if (result.status === 'input_required') return { runId: child.runId, asks }
  const end = (rest: Pick<StepEnd, 'status' | 'output' | 'error'>) => {
    const duration_ms = Date.now() - startedAt
    return run.emit({ type: 'step_end', step_id, ...rest, ...usageOfRuns([result]), duration_ms })
  }
  if (result.status === 'completed') {
    const text = answerOf(result)
    await end({ status: 'completed', output: text })
    return { text }
  }
  run.context.signal.throwIfAborted()
  const message =
    result.error?.message ?? `'${name}' was ${result.status}: ${result.cancellation_reason ?? 'no reason given'}.`
  await end({ status: 'failed', error: { message } })
  throw new AppError('run_failed', message)
}

function isSaid(event: { type: string }): event is EmittedEvent {
  return ['text_delta', 'reasoning_delta', 'data', 'data_delta', 'file', 'source'].includes(event.type)
}

/** Text, with data after it or in it; of an answer without text the last data. */
function answerOf({ messages }: RunRecord): string {
  const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []))
  return textOf(parts) === '' ? contentOf(parts) : promptText(parts)
}
