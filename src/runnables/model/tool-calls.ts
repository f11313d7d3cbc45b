import type { ToolSet } from 'ai'
import { AppError } from '../../core/error.ts'
import { within } from '../../runtime/abort.ts'
import type { CheckedAgent } from '../agent/schema.ts'
import type { AgentRunContext } from '../agent/settings.ts'
import type { ModelFiles } from '../files/model-files.ts'
import type { RunnableLimits } from '../limits/bounded.ts'
import { CallProgress, lastResult, type TellProgress } from '../tools/progress.ts'
import { checkedResults } from '../tools/result.ts'

interface CallOptions {
  toolCallId: string
  abortSignal?: AbortSignal
  /** Instead of the run's own, for a call that is made before the model goes on. */
  tell?: TellProgress
}
type Execute = (input: unknown, options: CallOptions) => unknown

/** Adds progress, time limits, hook and result checks. A timeout fails the call even if the tool ignores its signal. */
export function equipTools(
  tools: ToolSet,
  { timeout, hooks }: Pick<CheckedAgent, 'timeout' | 'hooks'>,
  run: () => AgentRunContext,
  { toolResult }: RunnableLimits,
  files: ModelFiles,
  tell: TellProgress,
): ToolSet {
  const limits = typeof timeout === 'object' ? timeout : {}
  const hook = hooks?.toolCall
  const perTool = limits.tools ?? {}
  const equip = (name: string, tool: ToolSet[string]): ToolSet[string] => {
    if (tool.execute === undefined) return tool
    const execute = tool.execute as unknown as Execute
    const limitMs = perTool[`${name}Ms`] ?? limits.toolMs
    const late = () => new AppError('run_failed', `The tool '${name}' exceeded its limit of ${limitMs} ms.`)
    const call = (input: unknown, options: CallOptions, progress: CallProgress): Promise<unknown> => {
      if (limitMs === undefined) return lastResult(execute(input, options), progress)
      return within((own) => lastResult(execute(input, withSignal(options, own)), progress), { ms: limitMs, late })
    }
    const around = (input: unknown, options: CallOptions, progress: CallProgress): unknown =>
      hook?.({ name, call_id: options.toolCallId, input, run: run() }, async (...other) =>
        call(other.length === 0 ? input : other[0], options, progress),
      )
    const told: Execute = async (input, options) => {
      const about = { call_id: options.toolCallId, name }
      const progress = new CallProgress(about, { bytes: toolResult.recordBytes, tell: options.tell ?? tell })
      try {
        return await lastResult((hook === undefined ? call : around)(input, options, progress), progress)
      } finally {
        progress.stop()
      }
    }
    return { ...tool, execute: told } as unknown as ToolSet[string]
  }
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, checkedResults(name, equip(name, tool), toolResult, files)]),
  )
}

function withSignal(options: CallOptions, signal: AbortSignal): CallOptions {
  return {
    ...options,
    abortSignal: options.abortSignal === undefined ? signal : AbortSignal.any([options.abortSignal, signal]),
  }
}
