import { AppError, notFound } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { GivenPart, Part } from '../../core/message.ts'
import { finalStatuses, isResumable, isTry, type RunHead, type RunRecord, type RunStatus } from '../../core/run.ts'
import type { ChildCall, ChildInput, Runnable } from '../../core/runnable.ts'
import { type Answer, answerForChild, openRequests } from '../../core/waiting.ts'
import type { RunExecution } from '../execution/execution.ts'
import type { Children } from '../execution/options.ts'
import { RunFiles } from '../files/run-files.ts'
import { cancelInside, cancelPaused, isMovedOn } from './cancel.ts'
import type { LiveRuns } from './live.ts'
import { prepareExecution } from './prepare.ts'
import { createRun, toStart } from './request.ts'
import { prepareResume } from './resume.ts'
import { ownerOf, type RunServices } from './run-services.ts'

/**
 * Starts and resumes runs inside others. A child run shares the session, state, history and end of its parent, takes no slot in
 * the session's queue, and its record names the parent.
 */
export function createChildren(services: RunServices, live: LiveRuns): Children {
  const { store, clock, recorded, logger } = services

  const children: Children = {
    async start(parent, state, runnable, call) {
      parent.signal.throwIfAborted()
      assertNotInside(parent, runnable, call)

      function prepare(run: RunRecord, before?: readonly RunEvent[]): RunExecution {
        const inside = { parent, state, answers: call.answers }
        return prepareExecution(services, { run, runnable, mode: 'background', live, children, before, inside })
      }

      async function start(entityId: string, input: ChildInput, askedAs: string | undefined): Promise<RunExecution> {
        assertInput(input)
        const now = clock()
        const runId = askedAs ?? createId('run', now)
        const { session_id: sessionId, user_id: userId, metadata, run_id: parentRunId } = parent.run
        const parts = await storedParts(services, input.parts, { run_id: runId, session_id: sessionId })
        const againOf = isTry(parent.run) ? (parent.run.again_of ?? undefined) : undefined
        const request = { runId, entityId, parts, sessionId, parentRunId, againOf, userId, metadata, background: false }
        const run = createRun(request, runnable, now)
        run.status = 'running'
        run.started_at = run.created_at
        const execution = prepare(run)
        await live.admit(execution, () => store.startRun(toStart(run, runnable, ownerOf(services))), 'durable')
        return execution
      }

      async function resume(runId: string, answer = answerOf(parent, runId)): Promise<RunExecution> {
        const paused = await recorded.get(runId)
        // A record that was brought may name any run.
        if (paused.parent_run_id !== parent.run.run_id) throw notFound('run', runId)
        const resumed = await prepareResume(services, paused, answer)
        const execution = prepare(resumed.run, resumed.before)
        await live.admit(execution, () => store.resumeRun(resumed.resume), 'durable')
        return execution
      }

      const execution = await ('runId' in call
        ? resume(call.runId, call.answer)
        : start(call.entityId, call.input, call.askedAs))
      const stop = () => void end(parent, execution)
      parent.signal.addEventListener('abort', stop, { once: true })
      parent.done.then(stop, stop)
      if (parent.ended) stop()
      return {
        runId: execution.run.run_id,
        events: () => execution.log.read(execution.firstSeq - 1),
        result: () => execution.done,
      }
    },

    async find(parent, runId) {
      const run = await store.findRun(runId)
      if (run === undefined || !(await isInside(run, parent))) return undefined
      if (run.status !== 'input_required') return { run, requests: [] }
      const events: RunEvent[] = []
      for await (const batch of recorded.events(run, 0)) events.push(...batch)
      return { run, requests: openRequests(events) }
    },

    async cancel(run) {
      await (isResumable(run) ? cancelPaused : cancelInside)(services, run, 'parent_ended')
    },
  }

  /** Also in a run that the parent repeats. */
  async function isInside(run: RunRecord, parent: RunHead): Promise<boolean> {
    if (run.parent_run_id === parent.run_id) return true
    const { again_of: of } = parent
    if (of === null || of.from === null) return false
    const repeated = await store.findRun(of.run_id)
    return repeated !== undefined && isInside(run, repeated)
  }

  /** A child ends with its parent. One that waits stays as it is while its parent waits too. */
  async function end(parent: RunExecution, execution: RunExecution): Promise<void> {
    if (!execution.ended) return execution.cancel(parent.reason ?? 'parent_ended')
    const { run } = execution
    if (run.status !== 'input_required' || !isOver(parent.run.status)) return
    try {
      await cancelPaused(services, run, parent.reason ?? 'parent_ended')
    } catch (error) {
      if (isMovedOn(error)) return
      logger.error({ error, run_id: run.run_id }, 'a waiting child of an ended run could not be cancelled')
    }
  }

  return children
}

/** The part of the parent's answer that is for this child. */
function answerOf(parent: RunExecution, runId: string): Answer {
  const { events = [], ...answer } = parent.options.context.resumed ?? {}
  // The last event is the answer itself.
  return answerForChild(runId, answer, openRequests(events.slice(0, -1)))
}

function isOver(status: RunStatus): boolean {
  return finalStatuses.some((final) => final === status)
}

/** The content of files is stored before the run that names them starts. */
async function storedParts(
  { store, bounds }: RunServices,
  given: readonly GivenPart[],
  run: Pick<RunRecord, 'run_id' | 'session_id'>,
): Promise<Part[]> {
  const files = new RunFiles(store, bounds, { ...run, messages: [] })
  const parts: Part[] = []
  for (const part of given)
    parts.push(part.type === 'file' ? await files.toPart(part, 'The input of a child run has a file') : part)
  return parts
}

/** Models and untyped code give this input. */
function assertInput({ parts }: ChildInput): void {
  const isSound = (part: GivenPart) =>
    part.type === 'text' ? typeof part.text === 'string' : part.type === 'file' || part.data !== undefined
  if (Array.isArray(parts) && parts.every((part) => typeof part === 'object' && part !== null && isSound(part))) return
  throw new AppError('run_failed', 'The input of a child run must be text, data and file parts.')
}

/** A team that contains itself, or an agent that asks itself, fails instead of starting runs until memory runs out. */
function assertNotInside(parent: RunExecution, entity: Runnable, call: ChildCall): void {
  const path: string[] = []
  let circle: string[] = []
  for (let outer: RunExecution | undefined = parent; outer !== undefined; outer = outer.parent) {
    path.unshift(outer.run.entity_id)
    if (outer.options.entity === entity) circle = [...path, outer.run.entity_id]
  }
  if (circle.length === 0) return
  throw new AppError(
    'run_failed',
    'askedAs' in call
      ? `'${circle[0]}' asks itself: ${circle.join(' → ')}. Remove one of these calls of \`ask\`.`
      : `The team contains itself: ${circle.join(' → ')}. Remove one of them from \`members\`.`,
  )
}
