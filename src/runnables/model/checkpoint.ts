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
  hashes?: Readonly<Record<string, string>>
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
  /** The hashes of the tools whose calls are approved, by call id. */
  hashes: Readonly<Record<string, string>>
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

/**
 * Adds the decisions on the waiting tool calls. An approval holds only for the tool as it was then, also when its call is
 * made later because what another call asked waits again.
 */
function withDecisions(
  { messages, again = [], hashes = {} }: Checkpoint,
  resumed: Resumption,
  tools: KnownTools,
): ResumedMessages {
  const denied = new Map<string, string>()
  const decide = ({ approvalId, callId, name }: Approval, yes: boolean, own: string | undefined) => {
    const found = name === undefined ? undefined : problemOf(name, hashes[callId], tools)
    const problem = yes || own === found ? found : undefined
    if (problem !== undefined) denied.set(callId, problem)
    const reason = problem ?? own
    const approved = yes && problem === undefined
    const response: ToolApprovalResponse = { type: 'tool-approval-response', approvalId, approved }
    return reason === undefined ? response : { ...response, reason }
  }
  const approvals = approvalsIn(messages)
  const open = approvals.filter(({ isDecided }) => !isDecided)
  const content = open.map((approval) => {
    const { approved, input, reason } = answerTo(approval.callId, resumed)
    return decide(approval, approved === true, reason ?? (typeof input === 'string' ? input : undefined))
  })
  const notMade = new Map(approvals.filter(({ isMade }) => !isMade).map((one) => [one.approvalId, one]))
  const checked = messages.map((message, place) => {
    if (message.role !== 'tool' || place < messages.length - 1) return message
    const parts = message.content.map((part) => {
      const approval = part.type === 'tool-approval-response' ? notMade.get(part.approvalId) : undefined
      return part.type !== 'tool-approval-response' || approval === undefined
        ? part
        : decide(approval, part.approved, part.reason)
    })
    return { ...message, content: parts }
  })
  return { messages: content.length === 0 ? checked : [...checked, { role: 'tool', content }], denied, again, hashes }
}

function problemOf(name: string, hash: string | undefined, tools: KnownTools): string | undefined {
  const tool = tools.get(name)
  if (tool === undefined) return `The tool '${name}' is gone, so the call was not made.`
  if (hash === undefined || tool.hash === hash) return undefined
  return `The tool '${name}' has changed since the call was asked for, so the call was not made.`
}

interface Approval {
  approvalId: string
  callId: string
  name: string | undefined
  isDecided: boolean
  /** The call has a result. */
  isMade: boolean
}

/** The calls that needed approval. */
function approvalsIn(messages: readonly ModelMessage[]): Approval[] {
  const asked = new Map<string, string>()
  const names = new Map<string, string>()
  const decided = new Set<string>()
  const made = new Set<string>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-call') names.set(part.toolCallId, part.toolName)
      else if (part.type === 'tool-approval-request') asked.set(part.approvalId, part.toolCallId)
      else if (part.type === 'tool-approval-response') decided.add(part.approvalId)
      else if (part.type === 'tool-result') made.add(part.toolCallId)
    }
  }
  return [...asked].map(([approvalId, callId]) => ({
    approvalId,
    callId,
    name: names.get(callId),
    isDecided: decided.has(approvalId),
    isMade: made.has(callId),
  }))
}

/** By the id of each call that waits for approval, the hash of its tool. */
export function hashesOfOpen(messages: readonly ModelMessage[], tools: KnownTools): Record<string, string> {
  const open = approvalsIn(messages).filter(({ isDecided }) => !isDecided)
  const hashes = open.map(({ callId, name }) => [callId, name && tools.get(name)?.hash] as const)
  return Object.fromEntries(hashes.filter((pair): pair is [string, string] => pair[1] !== undefined))
}
