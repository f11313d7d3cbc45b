import type { ModelMessage, ToolApprovalResponse, ToolResultPart } from 'ai'
import type { Json } from '../../core/json.ts'
import type { Resumption, RunContext } from '../../core/runnable.ts'
import { answerTo } from '../../core/waiting.ts'
import type { ModelFiles } from '../files/model-files.ts'

export interface Checkpoint {
  messages: ModelMessage[]
  /** The runs that tool calls wait for, by call id. */
  inside?: Record<string, string>
  /** The ids of the calls that are made again, because what they asked waits. */
  again?: string[]
  /** The hashes of the tools whose calls wait for approval, by call id. */
  hashes?: Record<string, string>
}

export type KnownTools = ReadonlyMap<string, { hash?: string | undefined }>

export type ToolOutput = ToolResultPart['output']

/** The messages with other results of these calls, by call id. */
export function withOutputs(
  messages: readonly ModelMessage[],
  outputs: ReadonlyMap<string, ToolOutput>,
): ModelMessage[] {
  return messages.map((message) => {
    if (message.role !== 'tool') return message
    const content = message.content.map((part) => {
      const output = part.type === 'tool-result' ? outputs.get(part.toolCallId) : undefined
      return part.type === 'tool-result' && output !== undefined ? { ...part, output } : part
    })
    return { ...message, content }
  })
}

/** Files are references here (`ModelFiles`); other bytes become base64, which the AI SDK accepts too. */
export function toCheckpoint(checkpoint: Checkpoint): Json {
  const text = JSON.stringify(checkpoint, function (this: Record<string, unknown>, key, value: unknown) {
    // `value` is already converted by the Buffer's own `toJSON`.
    const original = this[key]
    return original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value
  })
  return JSON.parse(text) as Json
}

/** Undefined when the run has not paused in a model's answer. */
export function readCheckpoint(resumed: Resumption | undefined): Checkpoint | undefined {
  const last = resumed?.events.findLast((event) => event.type === 'input_required' && event.messages !== undefined)
  return last?.type === 'input_required' ? (last.messages as unknown as Checkpoint) : undefined
}

export interface ResumedMessages {
  messages: ModelMessage[]
  /** Approved calls that are not made, with the reason. */
  denied: ReadonlyMap<string, string>
  /** The ids of the calls to make again first. */
  again: readonly string[]
}

/** The messages with which a paused run continues; undefined for a new run. `results`: what the caller's tools gave. */
export async function resumedMessages(
  { resumed }: RunContext,
  tools: KnownTools,
  files: ModelFiles,
  results: readonly ToolResultPart[] = [],
): Promise<ResumedMessages | undefined> {
  const checkpoint = readCheckpoint(resumed)
  if (resumed === undefined || checkpoint === undefined) return undefined
  // The AI SDK looks for decisions in the last message.
  const given = results.length === 0 ? [] : [{ role: 'tool' as const, content: [...results] }]
  const recorded = { ...checkpoint, messages: [...checkpoint.messages, ...given] }
  const { messages, ...rest } = withDecisions(recorded, resumed, tools)
  return { messages: await files.restore(messages), ...rest }
}

/** Adds the decisions on the waiting tool calls. An approval holds only for the tool as it was then. */
function withDecisions(
  { messages, again = [], hashes = {} }: Checkpoint,
  resumed: Resumption,
  tools: KnownTools,
): ResumedMessages {
  const denied = new Map<string, string>()
  const open = openCalls(messages)
  if (open.length === 0) return { messages: [...messages], denied, again }
  const content = open.map(({ approvalId, callId, name }): ToolApprovalResponse => {
    const { approved, input, reason: own = typeof input === 'string' ? input : undefined } = answerTo(callId, resumed)
    const decision = approved === true
    const problem = decision && name !== undefined ? problemOf(name, hashes[callId], tools) : undefined
    if (problem !== undefined) denied.set(callId, problem)
    const reason = problem ?? own
    return {
      type: 'tool-approval-response',
      approvalId,
      approved: decision && problem === undefined,
      ...(reason === undefined ? {} : { reason }),
    }
  })
  return { messages: [...messages, { role: 'tool', content }], denied, again }
}

function problemOf(name: string, hash: string | undefined, tools: KnownTools): string | undefined {
  const tool = tools.get(name)
  if (tool === undefined) return `The tool '${name}' is gone, so the call was not made.`
  if (hash === undefined || tool.hash === hash) return undefined
  return `The tool '${name}' has changed since the call was asked for, so the call was not made.`
}

function openCalls(
  messages: readonly ModelMessage[],
): { approvalId: string; callId: string; name?: string | undefined }[] {
  const open = new Map<string, string>()
  const names = new Map<string, string>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-call') names.set(part.toolCallId, part.toolName)
      else if (part.type === 'tool-approval-request') open.set(part.approvalId, part.toolCallId)
      else if (part.type === 'tool-approval-response') open.delete(part.approvalId)
    }
  }
  return [...open].map(([approvalId, callId]) => ({ approvalId, callId, name: names.get(callId) }))
}

/** By the id of each call that waits for approval, the hash of its tool. */
export function hashesOfOpen(messages: readonly ModelMessage[], tools: KnownTools): Record<string, string> {
  const hashes = openCalls(messages).map(({ callId, name }) => [callId, name && tools.get(name)?.hash] as const)
  return Object.fromEntries(hashes.filter((pair): pair is [string, string] => pair[1] !== undefined))
}
