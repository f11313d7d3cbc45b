import type { ModelMessage, ToolSet } from 'ai'
import type { Again } from '../../core/again/again.ts'
import { isObject } from '../../schema/field.ts'
import { toJson } from '../base/json-value.ts'
import type { ToolApproval } from '../tools/approvals.ts'
import type { OpenedTools } from '../tools/source.ts'

/* What stands between a repeated run and the world. */

const reason = 'This run repeats another one.'

interface Asked {
  toolCall: { toolName: string; toolCallId: string; input: unknown }
  messages: ModelMessage[]
  toolsContext?: unknown
  runtimeContext?: unknown
  tools?: ToolSet | undefined
}

type Decide = (...args: unknown[]) => unknown

/** Who decides about a call: the agent's own settings, the record, or a person. */
export interface Gate {
  /** In the AI SDK's form. */
  approval(own: ToolApproval): ToolApproval
  /** Whether the call waits for a person. */
  asks(own: ToolApproval, asked: Asked): Promise<boolean>
}

/** Every call waits for an approval that the record does not answer, except those that act in runs of their own. */
export function createGate({ after, record }: Again, opened: OpenedTools): Gate {
  async function decide(own: ToolApproval, asked: Asked): Promise<unknown> {
    const { toolName: name, input } = asked.toolCall
    const tool = opened.get(name)
    const status = await statusOf(own, asked, tool?.tool ?? asked.tools?.[name])
    if (after === 'live' || tool?.isClient || typeOf(status) === 'denied') return status
    if (tool?.isInside) return status
    if (record?.call(name, toJson(input)) !== undefined) return 'not-applicable'
    if (typeOf(status) === 'user-approval') return status
    return { type: 'user-approval', reason }
  }
  return {
    approval: (own) =>
      after === 'live' ? own : (((options: Asked) => decide(own, options)) as unknown as ToolApproval),
    asks: async (own, asked) => ['user-approval', 'denied'].includes(String(typeOf(await decide(own, asked)))),
  }
}

function typeOf(status: unknown): unknown {
  return isObject(status) ? status.type : status
}

/** As the AI SDK decides. */
async function statusOf(own: ToolApproval, asked: Asked, tool: ToolSet[string] | undefined): Promise<unknown> {
  const { toolCall, messages, toolsContext, runtimeContext } = asked
  if (typeof own === 'function') return (own as unknown as Decide)(asked)
  const { toolName: name, toolCallId, input } = toolCall
  const named = own !== undefined && Object.hasOwn(own, name) ? (own as Record<string, unknown>)[name] : undefined
  const context: unknown = isObject(toolsContext) ? toolsContext[name] : undefined
  if (typeof named === 'function') {
    return (named as Decide)(input, { toolCallId, messages, toolContext: context, runtimeContext })
  }
  if (named !== undefined && named !== null) return named
  const needs: unknown = tool?.needsApproval
  const asks = typeof needs === 'function' ? await (needs as Decide)(input, { toolCallId, messages, context }) : needs
  return asks ? 'user-approval' : 'not-applicable'
}

type Execute = (input: unknown, options: object) => unknown

/** The tools, which give the record's results for the calls that it has. */
export function answeredTools(tools: ToolSet, opened: OpenedTools, again: Again | undefined): ToolSet {
  const { record } = again ?? {}
  if (record === undefined) return tools
  return Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => {
      if (tool.execute === undefined || opened.get(name)?.isInside) return [name, tool]
      const execute = tool.execute as unknown as Execute
      const answer: Execute = (input, options) => {
        const known = record.call(name, toJson(input))
        if (known === undefined) return execute(input, options)
        if (known.error !== undefined) throw new Error(known.error)
        return known.output ?? null
      }
      return [name, { ...tool, execute: answer } as unknown as ToolSet[string]]
    }),
  )
}
