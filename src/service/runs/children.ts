import { AppError } from '../../core/error.ts'
import type { Message, Part } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import type { RunInput, Runnable } from '../../core/runnable.ts'
import type { TurnoverMap } from '../../runtime/turnover-map.ts'
import type { RunExecution } from './execution.ts'
import type { StartChild } from './options.ts'
import { prepareExecution, type Surroundings } from './prepare.ts'
import { createRun, toRefusal } from './request.ts'
import { prepareResume } from './resume.ts'

type Shared = 'store' | 'recorded' | 'registry' | 'knowledge' | 'logger' | 'clock' | 'requestTimeoutMs' | 'bounds'

export interface ChildrenOptions extends Pick<Surroundings, Shared> {
  owner: string
  live: TurnoverMap<string, RunExecution>
}

/**
 * Starts runs inside others: in the session of the outer one, whose state, history and end they share. They take no turn
 * there, and their records name the outer run.
 */
export function createChildren(options: ChildrenOptions): StartChild {
  const { store, clock, recorded, owner, live } = options

  const startChild: StartChild = async (parent, state, entity, call) => {
    parent.signal.throwIfAborted()
    assertNotInside(parent, entity)

    async function start(entityId: string, input: RunInput): Promise<RunExecution> {
      assertInput(input)
      const { session_id: sessionId, user_id: userId, metadata, run_id: parentRunId } = parent.run
      const request = { entityId, parts: [...input.parts], sessionId, parentRunId, userId, metadata, background: false }
      const run = createRun(request, entity, clock())
      run.status = 'running'
      run.started_at = run.created_at
      return begin(prepare(run), async () => {
        const [message] = run.messages as [Message]
        const started = await store.startRun({
          run: { ...run },
          message,
          session: null,
          state: null,
          claim: null,
          owner,
          unchecked: entity.checksInput,
        })
        if (started.outcome !== 'started') throw toRefusal(started, run)
        return started.fence
      })
    }

    async function goOn(runId: string): Promise<RunExecution> {
      const answer = parent.context.resumed ?? {}
      const { run, before, resume } = await prepareResume(recorded, await recorded.get(runId), answer, owner, clock())
      return begin(prepare(run, before), async () => {
        const resumed = await store.resumeRun(resume)
        if (resumed.outcome === 'resumed') return resumed.fence
        throw new AppError('run_failed', `The state of run '${runId}' changed. Fetch it and try again.`)
      })
    }

    function prepare(run: RunRecord, before?: Surroundings['before']): RunExecution {
      return prepareExecution({
        ...options,
        run,
        runnable: entity,
        mode: 'background',
        inQueue: () => 0,
        startChild,
        onEnd: () => live.delete(run.run_id),
        before,
        inside: { parent, state, answers: call.answers },
      })
    }

    async function begin(execution: RunExecution, commit: () => Promise<number>): Promise<RunExecution> {
      const { run_id: runId } = execution.run
      live.set(runId, execution)
      try {
        execution.startIsDurable(await commit())
      } catch (error) {
        execution.discard(error)
        live.delete(runId)
        throw error
      }
      execution.begin()
      return execution
    }

    const execution = await ('runId' in call ? goOn(call.runId) : start(call.entityId, call.input))
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

/** Team members are asked by models and by code without types. */
function assertInput({ parts }: RunInput): void {
  const isSound = (part: Part) => (part.type === 'text' ? typeof part.text === 'string' : part.data !== undefined)
  if (Array.isArray(parts) && parts.every((part) => typeof part === 'object' && part !== null && isSound(part))) return
  throw new AppError('run_failed', 'The input of a child run must be text and data parts.')
}

/** Teams that contain each other end with an error and not with the memory. */
function assertNotInside(parent: RunExecution, entity: Runnable): void {
  const path: string[] = []
  let repeats = false
  for (let outer: RunExecution | undefined = parent; outer !== undefined; outer = outer.parent) {
    path.unshift(outer.run.entity_id)
    if (outer.runnable === entity) repeats = true
  }
  if (!repeats) return
  throw new AppError(
    'run_failed',
    `The team contains itself: ${[...path, path[0]].join(' → ')}. Remove one of them from \`members\`.`,
  )
}
