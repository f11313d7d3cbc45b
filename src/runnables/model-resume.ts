import type { ModelMessage, ToolApprovalResponse } from 'ai'
import type { Json } from '../core/json.ts'
import type { Resumption, RunContext } from '../core/runnable.ts'

/** What a model's run goes on from. */
export interface Checkpoint {
  messages: ModelMessage[]
  /** Runs that calls of tools wait for, by the call's id. */
  inside?: Record<string, string>
}

/** As it is recorded: bytes as base64, which the AI SDK takes as well. */
export function toCheckpoint(checkpoint: Checkpoint): Json {
  const text = JSON.stringify(checkpoint, function (this: Record<string, unknown>, key, value: unknown) {
    // A Buffer has become something else by the time it is the value.
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

/** The messages with which a paused run goes on; undefined for one that begins. */
export function resumedMessages({ resumed }: RunContext): ModelMessage[] | undefined {
  const checkpoint = readCheckpoint(resumed)
  return resumed && checkpoint && withDecisions(checkpoint.messages, resumed)
}

/** The messages with what was decided about the tool calls that waited for approval. */
export function withDecisions(messages: readonly ModelMessage[], { approved, input }: Resumption): ModelMessage[] {
  const open = new Map<string, string>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const part of content) {
      if (part.type === 'tool-approval-request') open.set(part.approvalId, part.toolCallId)
      else if (part.type === 'tool-approval-response') open.delete(part.approvalId)
    }
  }
  if (open.size === 0) return [...messages]
  const reason = typeof input === 'string' ? { reason: input } : {}
  const content = [...open].map(([approvalId, callId]): ToolApprovalResponse => {
    const decision = typeof approved === 'object' ? approved[callId] : approved
    return { type: 'tool-approval-response', approvalId, approved: decision === true, ...reason }
  })
  return [...messages, { role: 'tool', content }]
}
