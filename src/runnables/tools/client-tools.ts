import type { ModelMessage, ToolResultPart, ToolSet } from 'ai'
import { AppError } from '../../core/error.ts'
import type { InputRequired, ToolResult } from '../../core/event.ts'
import type { ToolResultLimits } from '../../core/limits.ts'
import type { CallAnswer, ClientTool } from '../../core/run.ts'
import type { Resumption } from '../../core/runnable.ts'
import { toJson } from '../base/json-value.ts'
import { loadSdk } from '../base/sdk.ts'
import { toldError, toldOutput } from './result.ts'
import { type OpenedTools, sourceOf, toToolName } from './source.ts'

/*
 * Tools that the caller executes. The model is offered them like any other; the run pauses at a call and continues with
 * the caller's output.
 */

/** Why a client tool can't have this name beside the agent's own tools; undefined if it can. */
export function clientToolProblem(name: string, tools: ToolSet, more: readonly string[]): string | undefined {
  for (const [entry, tool] of [...Object.entries(tools), ...more.map((own) => [own, {}] as const)]) {
    const source = sourceOf(tool)
    if (name === entry || source?.names?.(entry).map(toToolName).includes(name))
      return 'the agent has a tool of that name'
    if (source === undefined || source.names !== undefined) continue
    const beginning = toToolName(`${entry}_`)
    if (name.startsWith(beginning)) return `names that begin with '${beginning}' are for the agent's own tools`
  }
  return undefined
}

/** Adds the client tools. Throws `run_failed` for a name that the agent has itself. */
export async function withClientTools(opened: OpenedTools, given: readonly ClientTool[] = []): Promise<OpenedTools> {
  if (given.length === 0) return opened
  const { jsonSchema, tool } = await loadSdk()
  const all = new Map(opened)
  for (const { name, description, parameters } of given) {
    if (all.has(name)) throw takenName(name)
    const inputSchema = jsonSchema({ type: 'object', properties: {}, ...parameters })
    const offered = tool({ inputSchema, ...(description === undefined ? {} : { description }) }) as ToolSet[string]
    all.set(name, { name, own: name, entry: name, tool: offered, isClient: true })
  }
  return all
}

/** Throws `run_failed` when the agent's code has put a tool of its own in the place of a client tool. */
export function assertNotReplaced(opened: OpenedTools, offered: ToolSet, present: ToolSet): void {
  for (const name of clientToolNames(opened)) {
    if (Object.hasOwn(present, name) && present[name] !== offered[name]) throw takenName(name)
  }
}

export function clientToolNames(opened: OpenedTools): string[] {
  return [...opened.values()].filter(({ isClient }) => isClient).map(({ name }) => name)
}

function takenName(name: string): AppError {
  return new AppError(
    'run_failed',
    `The client tool '${name}' has the name of a tool of the agent. Give the client tool another name.`,
  )
}

/** A request for each call of a client tool that has neither a result nor an open approval. */
export function openClientCalls(messages: readonly ModelMessage[], names: ReadonlySet<string>): InputRequired[] {
  const open = new Map<string, InputRequired>()
  for (const { content } of messages) {
    for (const part of typeof content === 'string' ? [] : content) {
      if (part.type === 'tool-call' && names.has(part.toolName) && part.providerExecuted !== true) {
        open.set(part.toolCallId, {
          type: 'input_required',
          call_id: part.toolCallId,
          kind: 'tool',
          tool: part.toolName,
          prompt: `Execute the tool '${part.toolName}' and send its output.`,
          data: toJson(part.input),
        })
      } else if (part.type === 'tool-result' || part.type === 'tool-approval-request') open.delete(part.toolCallId)
    }
  }
  return [...open.values()]
}

/** The caller's outputs: for the model, and as events. */
export interface ClientResults {
  parts: ToolResultPart[]
  events: ToolResult[]
}

/** The outputs of the client tools that the run waited for. */
export function clientResults(resumed: Resumption | undefined, limits: ToolResultLimits): ClientResults {
  const results: ClientResults = { parts: [], events: [] }
  const events = resumed?.events.slice(0, -1) ?? []
  const since = events.findLastIndex(({ type }) => type === 'run_resumed')
  const resumedAt = Date.parse(resumed?.events.at(-1)?.at ?? '')
  for (const event of events.slice(since + 1)) {
    if (event.type !== 'input_required' || event.kind !== 'tool' || event.child_run_id !== undefined) continue
    const { call_id: callId = '', tool: name = '' } = event
    const answers = resumed?.answers ?? {}
    const answer: CallAnswer = (Object.hasOwn(answers, callId) ? answers[callId] : undefined) ?? {}
    const { error = answer.output === undefined ? 'The client sent no output.' : undefined } = answer
    const output = error === undefined ? toldOutput(answer.output, limits) : toldError(error, limits)
    results.parts.push({ type: 'tool-result', toolCallId: callId, toolName: name, output })
    results.events.push({
      type: 'tool_result',
      call_id: callId,
      name,
      ...(error === undefined ? { output: answer.output ?? null } : { error: { message: error } }),
      duration_ms: Math.max(0, resumedAt - Date.parse(event.at)),
    })
  }
  return results
}
