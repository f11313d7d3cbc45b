import { AppError, messageOf } from '../../core/error.ts'
import type { EmittedEvent, InputRequired, StepEnd, StepStart } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { RunRecord } from '../../core/run.ts'
import type { Asked, ChildInput, ChildRun, RecordedChild, RunContext, Runnable } from '../../core/runnable.ts'
import { type Answer, answerForChild, openRequests, requestOfChild } from '../../core/waiting.ts'
import type { Slots } from '../../runtime/slots.ts'
import { usageOfRuns } from './child-usage.ts'
import { wasAsked } from './question.ts'

/** What the asks of one run have in common. */
export interface Asking {
  context: RunContext
  emit: (event: EmittedEvent) => Promise<void>
  slots: Slots
}

/** An ask as the record of a resumed run has it. */
export interface EarlierAsk {
  stepId: string
  /** The child runs, the newest last. */
  runIds: readonly string[]
  end?: StepEnd | undefined
}

export interface AskStep {
  start: Pick<StepStart, 'step_id' | 'name' | 'parent_id' | 'after'>
  entity: Runnable
  input: ChildInput
  earlier: EarlierAsk | undefined
  /** Makes the error for a question that is not the recorded one. */
  changed: (how: string) => AppError
  /** Nothing here can wait for a child. */
  mayNotWait?: boolean | undefined
  /** The run can be resumed after an interruption, and then resumes its child. */
  isResumable?: boolean | undefined
}

/** The answer, or the requests that the child waits for. */
export type AskOutcome = { asked: Asked } | { requests: readonly InputRequired[] }

/**
 * Asks an entity as a step of the run. The record names the child before it starts, so that a resumed run finds it: what
 * has ended is not asked again, what waits gets its answer, an interrupted workflow is resumed, and an interrupted agent
 * or team is asked again in a new run.
 */
export async function performAsk({ context, emit, slots }: Asking, step: AskStep): Promise<AskOutcome> {
  const { start, entity, input, earlier, changed } = step
  const { step_id, name } = start
  const startedAt = Date.now()
  const newest = earlier?.runIds.at(-1)
  const known = newest === undefined ? undefined : await context.findChild(newest)
  if (known !== undefined && !(await wasAsked(known.run, input, context.files))) {
    throw changed(`'${name}' is asked something else`)
  }
  if (earlier?.end !== undefined) return { asked: recordedAnswer(name, earlier.end, known) }
  // The id that the record names is not used again: a record that was brought may name any run.
  if (known === undefined) return askAnew()
  const { run } = known
  if (run.status === 'input_required') {
    const answer = answerFor(context, run)
    if (answer === undefined) return waitFor(known)
    return work(run.run_id, () => context.child(entity, { runId: run.run_id, answer }))
  }
  if (run.status === 'interrupted' && run.entity_kind === 'workflow') {
    return work(run.run_id, () => context.child(entity, { runId: run.run_id, answer: {} }))
  }
  if (!wasCut(run)) return settle(run)
  await context.cancelChild(run)
  return askAnew()

  function askAnew(): Promise<AskOutcome> {
    const askedAs = createId('run')
    return work(askedAs, () => context.child(entity, { entityId: name, input, askedAs }))
  }

  async function work(child_run_id: string, begin: () => Promise<ChildRun>): Promise<AskOutcome> {
    const leave = await slots.take()
    let result: RunRecord
    try {
      context.signal.throwIfAborted()
      await emit({ type: 'step_start', ...start, kind: 'ask', child_run_id })
      await context.recorded()
      result = await (await begin()).result()
    } catch (error) {
      context.signal.throwIfAborted()
      await end({ status: 'failed', error: { message: messageOf(error) } }, null)
      throw error
    } finally {
      leave()
    }
    return settle(result)
  }

  async function settle(run: RunRecord): Promise<AskOutcome> {
    if (run.status === 'completed') {
      const asked = askedOf(run)
      await end({ status: 'completed', output: asked.text }, run)
      return { asked }
    }
    context.signal.throwIfAborted()
    if (run.status === 'input_required') {
      const child = await context.findChild(run.run_id)
      if (child !== undefined) return waitFor(child)
    }
    const message =
      run.error?.message ?? `'${name}' was ${run.status}: ${run.cancellation_reason ?? 'no reason given'}.`
    if (run.status === 'interrupted' && step.isResumable) throw new AppError('run_interrupted', message)
    await end({ status: 'failed', error: { message } }, run)
    throw new AppError('run_failed', message)
  }

  async function waitFor({ run, requests }: RecordedChild): Promise<AskOutcome> {
    if (!step.mayNotWait) return { requests: requests.map((request) => requestOfChild(run.run_id, request)) }
    const message = `'${name}' waits for input, and nothing can wait for it here. Ask it in a workflow, a tool or an agent's own \`run\`.`
    await context.cancelChild(run)
    await end({ status: 'failed', error: { message } }, run)
    throw new AppError('run_failed', message)
  }

  async function end(how: Pick<StepEnd, 'status' | 'output' | 'error'>, run: RunRecord | null): Promise<void> {
    const used = usageOfRuns([run, ...(await interruptedBefore(run))])
    await emit({ type: 'step_end', step_id, ...how, ...used, duration_ms: Date.now() - startedAt })
  }

  /** The other runs of this ask, which used something too. */
  async function interruptedBefore(run: RunRecord | null): Promise<RunRecord[]> {
    const others: RunRecord[] = []
    for (const id of earlier?.runIds ?? []) {
      const other = id === run?.run_id ? undefined : await context.findChild(id)
      if (other !== undefined) others.push(other.run)
    }
    return others
  }
}

function askedOf(record: RunRecord): Asked {
  const run = structuredClone(record)
  const answer = run.messages.findLast(({ role }) => role === 'assistant')
  const last = answer?.parts.findLast((part) => part.type === 'data')
  return { text: answer?.content ?? '', data: last?.type === 'data' ? last.data : undefined, run }
}

function recordedAnswer(name: string, { status, error }: StepEnd, known: RecordedChild | undefined): Asked {
  if (status === 'failed') throw new AppError('run_failed', error?.message ?? `'${name}' failed.`)
  if (known === undefined) throw new AppError('run_failed', `The record of what '${name}' answered is gone.`)
  return askedOf(known.run)
}

/** Whether the run ended with its process or its parent, before it could answer. */
function wasCut({ status, cancellation_reason: reason }: RunRecord): boolean {
  return status === 'interrupted' || (status === 'cancelled' && reason === 'parent_ended')
}

/** What this run was answered for the child; undefined when the child's present requests have no answer yet. */
function answerFor({ resumed }: RunContext, { run_id: runId, completed_at }: RunRecord): Answer | undefined {
  const events = resumed?.events ?? []
  const asked = events.findLastIndex((event) => event.type === 'input_required' && event.child_run_id === runId)
  const place = events.findIndex(
    (event, at) => at > asked && event.type === 'run_resumed' && event.from === 'input_required',
  )
  const answer = events[place]
  if (asked === -1 || answer?.type !== 'run_resumed') return undefined
  // After a crash the child may have taken that answer, and wait for another one now.
  const isNew = place === events.length - 1
  if (!isNew && !(completed_at !== null && completed_at < answer.at)) return undefined
  return answerForChild(runId, answer, openRequests(events.slice(0, place)))
}
