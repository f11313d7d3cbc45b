import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { AppError, isAppError } from '../core/error.ts'
import { isEnded } from '../core/run.ts'
import type { Answer } from '../core/waiting.ts'
import { toResult } from './answer.ts'
import type { GivenArguments } from './arguments.ts'
import { followRun } from './follow.ts'
import type { McpPort, McpRun, McpRunEvents } from './port.ts'
import { Progress } from './progress.ts'

export const defaultWaitSeconds = 50

/** Where a call comes from, and what its host can do. */
export interface CallHost {
  signal: AbortSignal
  /** Whether a run that this call started or resumed ends with the call when that is left. Asked once it was left. */
  endsRun: () => boolean
  /** Absent when the host did not ask for it. */
  report: ((step: { progress: number; message: string }) => void) | undefined
  /** Asks a person at the host; undefined when that is not possible. */
  elicit: (run: McpRun) => Promise<InputRequiredResult | undefined>
  /** What a person has answered to an earlier result of this call. */
  elicited: { runId: string; answer: Answer | undefined } | undefined
}

export interface RunTools {
  ask(entityId: string, message: string, given: GivenArguments): Promise<CallToolResult | InputRequiredResult>
  get(given: GivenArguments): Promise<CallToolResult | InputRequiredResult>
  answer(given: GivenArguments): Promise<CallToolResult | InputRequiredResult>
  cancel(given: GivenArguments): Promise<CallToolResult>
}

/** The tools about runs, for one call. */
export function runTools(port: McpPort, host: CallHost, approveByTool: boolean): RunTools {
  const asResult = (run: McpRun) => toResult(run, approveByTool)

  /** Waits for the end or pause, at most as long as the host wants to. */
  async function wait({ runId, events }: McpRunEvents, given: GivenArguments, isOwn: boolean) {
    const { signal, report } = host
    const progress = report && new Progress(isOwn ? Number.NEGATIVE_INFINITY : Date.now())
    const mostMs = 1000 * (given.integer('wait_seconds') ?? defaultWaitSeconds)
    await followRun(events, { signal, mostMs }, (event) => {
      const step = progress?.add(event)
      if (step !== undefined) report?.(step)
    })
    if (signal.aborted) {
      if (isOwn && host.endsRun()) await cancelLeft(runId)
      throw signal.reason
    }
    return tell(await port.run(runId))
  }

  /** As a form for a person where the host has one. */
  async function tell(run: McpRun) {
    const form = run.status === 'input_required' ? await host.elicit(run) : undefined
    return form ?? asResult(run)
  }

  async function cancelLeft(runId: string): Promise<void> {
    try {
      await port.cancel(runId, 'client_disconnected')
    } catch (error) {
      // It has ended meanwhile.
      if (!isAppError(error) || (error.code !== 'conflict' && error.code !== 'run_not_found')) throw error
    }
  }

  async function resume(runId: string, answer: Answer, given: GivenArguments) {
    return wait(await port.resume(runId, answer), given, true)
  }

  /** The run goes on with what a person answered. Without an answer it stays as it is, and nobody is asked again. */
  async function goOn({ runId, answer }: NonNullable<CallHost['elicited']>, given: GivenArguments) {
    return answer === undefined ? asResult(await port.run(runId)) : resume(runId, answer, given)
  }

  return {
    async ask(entityId, message, given) {
      if (host.elicited !== undefined) return goOn(host.elicited, given)
      return wait(await port.start({ entityId, message, sessionId: given.text('session_id') }), given, true)
    },
    async get(given) {
      if (host.elicited !== undefined) return goOn(host.elicited, given)
      const run = await port.run(given.text('run_id') ?? '')
      return isEnded(run.status) ? tell(run) : wait(await port.follow(run.run_id, host.signal), given, false)
    },
    async answer(given) {
      if (host.elicited !== undefined) return goOn(host.elicited, given)
      const runId = given.text('run_id') ?? ''
      const { waiting } = await port.run(runId)
      const isDecision = waiting.some(({ kind }) => kind !== 'input')
      if (isDecision && !approveByTool) {
        throw new AppError(
          'forbidden',
          `A person must decide, and not a tool: npx agentserve runs resume ${runId} --approve. Then call get_run with run_id ${runId}.`,
        )
      }
      const [input, approved, reason] = [given.anything('input'), given.flag('approved'), given.text('reason')]
      return resume(runId, { ...(input !== undefined && { input }), ...decisionOf(waiting, approved, reason) }, given)
    },
    async cancel(given) {
      return asResult(await port.cancel(given.text('run_id') ?? '', 'requested'))
    },
  }
}

function decisionOf(waiting: McpRun['waiting'], approved: boolean | undefined, reason: string | undefined): Answer {
  if (approved === undefined) return {}
  if (reason === undefined) return { approved }
  const ids = waiting.flatMap(({ kind, call_id }) => (kind === 'approval' && call_id !== undefined ? [call_id] : []))
  return { approved, answers: Object.fromEntries(ids.map((id) => [id, { approved, reason }])) }
}
