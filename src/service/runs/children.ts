import { AppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { createId } from '../../core/id.ts'
import type { GivenPart, Part } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import type { ChildInput, Runnable } from '../../core/runnable.ts'
import { answerForChild, openRequests } from '../../core/waiting.ts'
import { RunFiles } from '../files/run-files.ts'
import type { RunExecution } from './execution.ts'
import type { LiveRuns } from './live.ts'
import type { StartChild } from './options.ts'
import { prepareExecution } from './prepare.ts'
import { createRun, toStart } from './request.ts'
import { prepareResume } from './resume.ts'
import type { RunServices } from './run-services.ts'

/**
 * Starts and resumes runs inside others. A child run shares the session, state, history and end of its parent, takes no slot in
 * the session's queue, and its record names the parent.
 */
export function createChildren(services: RunServices, live: LiveRuns): StartChild {
  const { store, clock, recorded, owner } = services

  const startChild: StartChild = async (parent, state, runnable, call) => {
    parent.signal.throwIfAborted()
    assertNotInside(parent, runnable)

    function prepare(run: RunRecord, before?: readonly RunEvent[]): RunExecution {
      const inside = { parent, state, answers: call.answers }
      return prepareExecution(services, { run, runnable, mode: 'background', live, startChild, before, inside })
    }

    async function start(entityId: string, input: ChildInput): Promise<RunExecution> {
      assertInput(input)
      const now = clock()
      const runId = createId('run', now)
      const { session_id: sessionId, user_id: userId, metadata, run_id: parentRunId } = parent.run
      const parts = await storedParts(services, input.parts, { run_id: runId, session_id: sessionId })
      const request = { runId, entityId, parts, sessionId, parentRunId, userId, metadata, background: false }
      const run = createRun(request, runnable, now)
      run.status = 'running'
      run.started_at = run.created_at
      const execution = prepare(run)
      await live.admit(execution, () => store.startRun(toStart(run, runnable, owner)), 'durable')
      return execution
    }

    async function resume(runId: string): Promise<RunExecution> {
      const { events = [], ...answer } = parent.options.context.resumed ?? {}
      // The last event is the answer itself.
      const forChild = answerForChild(runId, answer, openRequests(events.slice(0, -1)))
      const resumed = await prepareResume(services, await recorded.get(runId), forChild)
      const execution = prepare(resumed.run, resumed.before)
      await live.admit(execution, () => store.resumeRun(resumed.resume), 'durable')
      return execution
    }

    const execution = await ('runId' in call ? resume(call.runId) : start(call.entityId, call.input))
    const stop = () => execution.cancel(parent.reason ?? 'parent_ended')
    parent.signal.addEventListener('abort', stop, { once: true })
    parent.done.then(stop, stop)
    if (parent.ended) stop()
    return {
      runId: execution.run.run_id,
      events: () => execution.log.read(execution.firstSeq - 1),
      result: () => execution.done,
    }
  }
  return startChild
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

/** A team that contains itself fails, instead of starting runs until memory runs out. */
function assertNotInside(parent: RunExecution, entity: Runnable): void {
  const path: string[] = []
  let repeats = false
  for (let outer: RunExecution | undefined = parent; outer !== undefined; outer = outer.parent) {
    path.unshift(outer.run.entity_id)
    if (outer.options.runnable === entity) repeats = true
  }
  if (!repeats) return
  throw new AppError(
    'run_failed',
    `The team contains itself: ${[...path, path[0]].join(' → ')}. Remove one of them from \`members\`.`,
  )
}
