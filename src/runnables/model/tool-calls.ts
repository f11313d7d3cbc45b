import type { ToolSet } from 'ai'
import { AppError } from '../../core/error.ts'
import type { AgentRunContext, AnyAgentSettings } from '../agent/settings.ts'
import type { RunnableLimits } from '../limits/bounded.ts'
import { checkedResults } from '../tools/result.ts'

type Execute = (input: unknown, options: { toolCallId: string; abortSignal?: AbortSignal }) => unknown

/**
 * The tools with the agent's time limits and its hook round every call, and their results checked. A call that takes longer than its limit ends with
 * an error, whether the tool heeds its signal or not; what it does later is dropped.
 */
export function equipTools(
  tools: ToolSet,
  { timeout, hooks }: Pick<AnyAgentSettings, 'timeout' | 'hooks'>,
  run: () => AgentRunContext,
  { toolResult }: RunnableLimits,
): ToolSet {
  const limits = typeof timeout === 'object' ? timeout : {}
  const hook = hooks?.toolCall
  const isPlain = hook === undefined && limits.toolMs === undefined && limits.tools === undefined
  const perTool: Readonly<Record<string, number | undefined>> = limits.tools ?? {}
  const equip = (name: string, tool: ToolSet[string]): ToolSet[string] => {
    if (isPlain || tool.execute === undefined) return tool
    const execute = tool.execute as unknown as Execute
    const limitMs = perTool[`${name}Ms`] ?? limits.toolMs
    const call: Execute = (input, options) => limited(name, limitMs, options, (own) => last(execute(input, own)))
    const around: Execute = (input, options) =>
      hook?.({ name, callId: options.toolCallId, input, run: run() }, (...other) =>
        Promise.resolve(call(other.length === 0 ? input : other[0], options)),
      )
    return { ...tool, execute: hook === undefined ? call : around } as unknown as ToolSet[string]
  }
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [name, checkedResults(name, equip(name, tool), toolResult)]),
  )
}

async function limited<T extends { abortSignal?: AbortSignal }>(
  name: string,
  limitMs: number | undefined,
  options: T,
  work: (options: T) => Promise<unknown>,
): Promise<unknown> {
  if (limitMs === undefined) return work(options)
  const own = new AbortController()
  const late = new AppError('run_failed', `The tool '${name}' exceeded its limit of ${limitMs} ms.`)
  const stopped = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    own.abort(late)
    stopped.reject(late)
  }, limitMs)
  const abortSignal =
    options.abortSignal === undefined ? own.signal : AbortSignal.any([options.abortSignal, own.signal])
  try {
    return await Promise.race([work({ ...options, abortSignal }), stopped.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Of a tool that gives one result after the other, the last. */
async function last(result: unknown): Promise<unknown> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return result
  let output: unknown
  for await (const piece of result as AsyncIterable<unknown>) output = piece
  return output
}
