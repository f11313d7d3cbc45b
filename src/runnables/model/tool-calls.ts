import type { ToolSet } from 'ai'
import { AppError } from '../../core/error.ts'
import { within } from '../../runtime/abort.ts'
import type { CheckedAgent } from '../agent/schema.ts'
import type { AgentRunContext } from '../agent/settings.ts'
import type { ModelFiles } from '../files/model-files.ts'
import type { RunnableLimits } from '../limits/bounded.ts'
import { checkedResults } from '../tools/result.ts'

type Execute = (input: unknown, options: { toolCallId: string; abortSignal?: AbortSignal }) => unknown

/** Adds time limits, hook and result checks. A timeout fails the call even if the tool ignores its signal. */
export function equipTools(
  tools: ToolSet,
  { timeout, hooks }: Pick<CheckedAgent, 'timeout' | 'hooks'>,
  run: () => AgentRunContext,
  { toolResult }: RunnableLimits,
  files: ModelFiles,
): ToolSet {
  const limits = typeof timeout === 'object' ? timeout : {}
  const hook = hooks?.toolCall
  const isPlain = hook === undefined && limits.toolMs === undefined && limits.tools === undefined
  const perTool = limits.tools ?? {}
  const equip = (name: string, tool: ToolSet[string]): ToolSet[string] => {
    if (isPlain || tool.execute === undefined) return tool
    const execute = tool.execute as unknown as Execute
    const limitMs = perTool[`${name}Ms`] ?? limits.toolMs
    const late = () => new AppError('run_failed', `The tool '${name}' exceeded its limit of ${limitMs} ms.`)
    const call: Execute = (input, options) => {
      if (limitMs === undefined) return last(execute(input, options))
      return within((own) => last(execute(input, withSignal(options, own))), { ms: limitMs, late })
    }
    const around: Execute = (input, options) =>
      hook?.({ name, call_id: options.toolCallId, input, run: run() }, (...other) =>
        Promise.resolve(call(other.length === 0 ? input : other[0], options)),
      )
    return { ...tool, execute: hook === undefined ? call : around } as unknown as ToolSet[string]
  }
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, checkedResults(name, equip(name, tool), toolResult, files)]),
  )
}

function withSignal<T extends { abortSignal?: AbortSignal }>(options: T, signal: AbortSignal): T {
  return {
    ...options,
    abortSignal: options.abortSignal === undefined ? signal : AbortSignal.any([options.abortSignal, signal]),
  }
}

/** The last result of a tool that streams several. */
export async function last(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  let output: unknown
  for await (const piece of result as AsyncIterable<unknown>) output = piece
  return output
}
