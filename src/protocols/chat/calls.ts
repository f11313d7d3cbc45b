import type {
  InputRequired,
  RunResumedEvent,
  ToolCall,
  ToolInputDelta,
  ToolProgress,
  ToolResult,
} from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import { answerTo, kindOf } from '../../core/waiting.ts'
import type { ChatChunk } from './chunk.ts'

interface Call {
  name: string
  state: 'writing' | 'called' | 'ended'
  /** The run's own; false for what a child run or a workflow asks for. */
  isOwn: boolean
  asked?: boolean
}

type Asked = InputRequired & { seq: number }

/** The tool parts of a message: calls of tools, and requests that wait for a person. */
export class ChatCalls {
  readonly #calls = new Map<string, Call>()
  /** What waits since the run started or was last resumed. */
  #open: Asked[] = []
  /** `useChat` of ai 5 does not know approvals: they are data parts. */
  readonly #asData: boolean

  constructor(asData: boolean) {
    this.#asData = asData
  }

  input({ call_id: toolCallId, name, text }: ToolInputDelta): ChatChunk[] {
    const chunks: ChatChunk[] = [{ type: 'tool-input-delta', toolCallId, inputTextDelta: text }]
    if (this.#calls.has(toolCallId)) return chunks
    this.#calls.set(toolCallId, { name, state: 'writing', isOwn: true })
    return [{ type: 'tool-input-start', toolCallId, toolName: name }, ...chunks]
  }

  call({ call_id: toolCallId, name, input }: ToolCall): ChatChunk[] {
    this.#calls.set(toolCallId, { name, state: 'called', isOwn: true })
    return [{ type: 'tool-input-available', toolCallId, toolName: name, input }]
  }

  progress({ call_id: toolCallId, name, output }: ToolProgress): ChatChunk[] {
    return [...this.#known(toolCallId, name), { type: 'tool-output-available', toolCallId, output, preliminary: true }]
  }

  result({ call_id: toolCallId, name, output = null, error, denied }: ToolResult): ChatChunk[] {
    const chunks = this.#known(toolCallId, name)
    const call = this.#calls.get(toolCallId)
    if (call !== undefined) call.state = 'ended'
    if (error === undefined) return [...chunks, { type: 'tool-output-available', toolCallId, output }]
    if (denied && call?.asked && !this.#asData) return [...chunks, { type: 'tool-output-denied', toolCallId }]
    return [...chunks, { type: 'tool-output-error', toolCallId, errorText: error.message }]
  }

  /** A client that gets an output without its call loses the rest of the stream. */
  #known(toolCallId: string, name: string): ChatChunk[] {
    if (this.#calls.has(toolCallId)) return []
    return this.call({ type: 'tool_call', call_id: toolCallId, name, input: null })
  }

  /** Calls that the model never finished: a page would show them as being written for ever. */
  unfinished(): ChatChunk[] {
    const chunks: ChatChunk[] = []
    for (const [toolCallId, call] of this.#calls) {
      if (call.state !== 'writing') continue
      call.state = 'ended'
      const errorText = 'The model did not finish the call.'
      chunks.push({ type: 'tool-input-error', toolCallId, toolName: call.name, input: null, errorText })
    }
    return chunks
  }

  ask(request: Asked, runId: string): ChatChunk[] {
    this.#open.push(request)
    const kind = kindOf(request)
    if (kind === 'input') return [inputRequest(request, runId)]
    const { call_id: id = `call_${request.seq}`, tool = 'approve', data = {} } = request
    const chunks: ChatChunk[] = []
    if (!this.#calls.has(id)) {
      chunks.push({ type: 'tool-input-available', toolCallId: id, toolName: tool, input: data })
      this.#calls.set(id, { name: tool, state: 'called', isOwn: false })
    }
    const call = this.#calls.get(id)
    if (kind === 'tool' || call === undefined) return chunks
    call.asked = true
    if (this.#asData) return [...chunks, approvalAsData(request, id, runId)]
    return [...chunks, { type: 'tool-approval-request', approvalId: id, toolCallId: id }]
  }

  /** The run continues with answers to all that waits. */
  answer(resumed: RunResumedEvent, runId: string): ChatChunk[] {
    const open = this.#open
    this.#open = []
    if (resumed.from !== 'input_required') return []
    return open.flatMap((request) => {
      const kind = kindOf(request)
      if (kind === 'input') return [inputRequest(request, runId, true)]
      const { call_id: id = `call_${request.seq}` } = request
      const answer = answerTo(request.call_id, resumed)
      const call = this.#calls.get(id)
      if (kind === 'approval') return this.#decide(request, id, answer.approved === true, answer.reason, runId)
      // The output of a tool of a child run is in the record of that run.
      if (call === undefined || call.isOwn) return []
      call.state = 'ended'
      if (answer.error !== undefined)
        return [{ type: 'tool-output-error', toolCallId: id, errorText: answer.error } as const]
      return [{ type: 'tool-output-available', toolCallId: id, output: answer.output ?? null } as const]
    })
  }

  /** The run ends without an answer to what still waits. */
  drop(runId: string): ChatChunk[] {
    const open = this.#open
    this.#open = []
    return open.flatMap((request) => {
      const { call_id: id = `call_${request.seq}` } = request
      const call = this.#calls.get(id)
      if (kindOf(request) === 'input') return [inputRequest(request, runId, true)]
      if (call === undefined || call.state === 'ended') return []
      if (kindOf(request) === 'approval' && !this.#asData) return this.#refuse(call, id)
      call.state = 'ended'
      const errorText = 'The run ended without an answer.'
      return [{ type: 'tool-output-error', toolCallId: id, errorText } as const]
    })
  }

  #refuse(call: Call, id: string): ChatChunk[] {
    call.state = 'ended'
    return [
      { type: 'tool-approval-response', approvalId: id, approved: false },
      { type: 'tool-output-denied', toolCallId: id },
    ]
  }

  #decide(request: Asked, id: string, approved: boolean, reason: string | undefined, runId: string): ChatChunk[] {
    const given = { approved, ...(reason !== undefined && { reason }) }
    const chunks: ChatChunk[] = this.#asData
      ? [approvalAsData(request, id, runId, given)]
      : [{ type: 'tool-approval-response', approvalId: id, ...given }]
    const call = this.#calls.get(id)
    // Only the run's own calls have a result in its record.
    if (call === undefined || call.isOwn) return chunks
    call.state = 'ended'
    if (approved) return [...chunks, { type: 'tool-output-available', toolCallId: id, output: given }]
    if (!this.#asData) return [...chunks, { type: 'tool-output-denied', toolCallId: id }]
    return [...chunks, { type: 'tool-output-error', toolCallId: id, errorText: 'It was not approved.' }]
  }
}

function approvalAsData(
  { prompt }: Asked,
  id: string,
  runId: string,
  given: { approved?: boolean; reason?: string } = {},
): ChatChunk {
  return { type: 'data-approval', id, data: { run_id: runId, call_id: id, prompt, ...given } }
}

function inputRequest({ call_id, seq, prompt, schema, data }: Asked, runId: string, answered = false): ChatChunk {
  const shown: JsonObject = { run_id: runId, prompt }
  if (call_id !== undefined) shown.call_id = call_id
  if (schema !== undefined) shown.schema = schema
  if (data !== undefined) shown.data = data
  if (answered) shown.answered = true
  return { type: 'data-input-request', id: call_id ?? `i${seq}`, data: shown }
}
