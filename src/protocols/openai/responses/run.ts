import type { InputRequired, RunEndEvent, RunErrorEvent, Stamp, ToolCall, ToolResult } from '../../../core/event.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { RunRecord, Usage } from '../../../core/run.ts'
import { kindOf } from '../../../core/waiting.ts'
import { Blocks } from '../../blocks.ts'
import { requestId, wireCallId } from '../../call-id.ts'
import { explainEnd } from '../../explain-end.ts'
import type { SentFile } from '../../files.ts'
import type { ShownEvent } from '../../projection.ts'
import { addStretchUsage } from '../../stretch.ts'
import { responseId } from '../ids.ts'
import { responseUsage } from '../usage.ts'
import type { EarlierCalls } from './earlier.ts'
import { type Echo, echoOf } from './echo.ts'
import { asText, type OutputItem, outputText, question, type ResponseEvent, type ToolItem } from './item.ts'
import { approvalId, itemId } from './item-id.ts'
import { Output } from './output.ts'

export type ResponseStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

/** The fields that Open Responses requires, all of them. */
export interface ResponseObject extends Omit<Echo, 'store'> {
  id: string
  object: 'response'
  created_at: number
  completed_at: number | null
  status: ResponseStatus
  error: { code: 'server_error'; message: string } | null
  incomplete_details: null
  conversation: { id: string }
  output: OutputItem[]
  usage: JsonObject | null
  store: boolean
}

/** Of which run a response is. */
export type ResponseRecord = Pick<
  RunRecord,
  'run_id' | 'session_id' | 'entity_id' | 'created_at' | 'background' | 'given'
>

const seconds = (at: string) => Math.floor(Date.parse(at) / 1000)
const none: readonly ResponseEvent[] = []

/** One stretch of a run as a response: the events of its stream, and what they amount to. */
export class ResponseRun {
  readonly #run: ResponseRecord
  readonly #stretch: number
  readonly #earlier: EarlierCalls | undefined
  readonly #clientTools: ReadonlySet<string>
  readonly #echo: Echo
  readonly #blocks = new Blocks()
  readonly #output: Output
  /** Calls of the agent's tools, by id, that have no result yet. */
  readonly #calls = new Map<string, { index: number; item: ToolItem }>()
  #usage: Usage | null = null
  #status: ResponseStatus = 'queued'
  #createdAt: string
  #completedAt: string | null = null
  #error: string | undefined
  #isOpen = false

  /** `earlier`: of a stretch that is not the first. */
  constructor(run: ResponseRecord, stretch: number, earlier?: EarlierCalls) {
    this.#run = run
    this.#stretch = stretch
    this.#earlier = earlier
    this.#clientTools = new Set(run.given?.client_tools?.map(({ name }) => name))
    this.#echo = echoOf(run)
    if (stretch > 1) this.#echo.previous_response_id = responseId(run.run_id, stretch - 1)
    this.#createdAt = run.created_at
    this.#output = new Output(run.run_id)
  }

  /** What the events so far amount to. */
  object(): ResponseObject {
    const { run_id, session_id } = this.#run
    const hasEnded = this.#status !== 'queued' && this.#status !== 'in_progress'
    return {
      id: responseId(run_id, this.#stretch),
      object: 'response',
      created_at: seconds(this.#createdAt),
      completed_at: this.#completedAt === null ? null : seconds(this.#completedAt),
      status: this.#status,
      error: this.#error === undefined ? null : { code: 'server_error', message: this.#error },
      incomplete_details: null,
      ...this.#echo,
      conversation: { id: session_id },
      output: this.#output.items(),
      usage: hasEnded ? responseUsage(this.#usage) : null,
    }
  }

  /** The stream of a run that waits for its turn begins before the run does. */
  queued(): readonly ResponseEvent[] {
    this.#isOpen = true
    return [this.#told('created'), this.#told('queued')]
  }

  add(event: ShownEvent): readonly ResponseEvent[] {
    this.#usage = addStretchUsage(this.#usage, event)
    switch (event.type) {
      case 'run_start':
        return this.#begin(event)
      case 'run_resumed':
        if (this.#isOpen) return this.#closeBlock()
        this.#createdAt = event.at
        return this.#begin(event)
      case 'text_delta':
        return event.text === '' ? none : this.#delta('text', event.text, event.seq)
      case 'reasoning_delta':
        return event.text === '' ? none : this.#delta('reasoning', event.text, event.seq)
      case 'model_call_start':
        return this.#closeBlock()
      case 'source':
        this.#output.addSource(event)
        return none
      case 'retrieval':
        return [...this.#closeBlock(), ...this.#output.search(event, event.seq)]
      case 'tool_input_delta': {
        if (this.#clientTools.has(event.name)) return none
        const opened = this.#calls.has(event.call_id) ? none : this.#open(event.call_id, event.name)
        return [...this.#closeBlock(), ...opened, ...this.#write(event.call_id, event.text)]
      }
      case 'tool_call':
        // One of the caller's shows when the run waits for it.
        return this.#clientTools.has(event.name) ? none : [...this.#closeBlock(), ...this.#call(event)]
      case 'tool_result':
        return [...this.#closeBlock(), ...this.#result(event)]
      case 'input_required':
        return [...this.#closeBlock(), ...this.#ask(event)]
      case 'data':
        return [...this.#closeBlock(), ...this.#output.whole(event.seq, outputText(JSON.stringify(event.data)))]
      case 'file':
        return [...this.#closeBlock(), ...this.#file(event)]
      case 'run_end':
      case 'run_error':
        return this.#end(event)
      default:
        return none
    }
  }

  /** The events that end a stream which lost its run. */
  broken(message: string): readonly ResponseEvent[] {
    const begun = this.#isOpen ? none : [this.#told('created')]
    this.#isOpen = true
    const closed = this.#closeAll('incomplete', false)
    this.#status = 'failed'
    this.#error = message
    return [...begun, ...closed, this.#told('failed')]
  }

  #told(type: string): ResponseEvent {
    return { type: `response.${type}`, response: this.object() }
  }

  #begin({ at }: Stamp): readonly ResponseEvent[] {
    // A run that has waited for its turn began later than it was made.
    const hasWaited = this.#stretch === 1 && at !== this.#run.created_at
    const waited = hasWaited ? this.queued() : none
    this.#isOpen = true
    this.#status = 'in_progress'
    return [...(hasWaited ? waited : [this.#told('created')]), this.#told('in_progress')]
  }

  #delta(kind: 'text' | 'reasoning', delta: string, seq: number): readonly ResponseEvent[] {
    const { opened, closed } = this.#blocks.delta(kind, seq)
    if (!opened) return [this.#output.delta(delta)]
    const before = closed === undefined ? none : this.#output.closeBlock('completed', false)
    return [...before, ...this.#output.openBlock(kind, seq), this.#output.delta(delta)]
  }

  #closeBlock(status: 'completed' | 'incomplete' = 'completed', isLast = false): readonly ResponseEvent[] {
    return this.#blocks.close() === undefined ? none : this.#output.closeBlock(status, isLast)
  }

  #open(callId: string, name: string): readonly ResponseEvent[] {
    const { run_id: runId } = this.#run
    const item: ToolItem = {
      id: this.#output.unique(itemId('mcp', runId, callId)),
      type: 'mcp_call',
      server_label: 'agentserve',
      name,
      arguments: '',
      output: null,
      error: null,
      status: 'in_progress',
      approval_request_id: this.#earlier?.approvals.has(callId) ? approvalId(runId, callId) : null,
    }
    const { index, event } = this.#output.add(item)
    this.#calls.set(callId, { index, item })
    return [event, { type: 'response.mcp_call.in_progress', output_index: index, item_id: item.id }]
  }

  #write(callId: string, delta: string): readonly ResponseEvent[] {
    const call = this.#calls.get(callId)
    if (call === undefined) return none
    call.item = { ...call.item, arguments: call.item.arguments + delta }
    this.#output.set(call.index, call.item)
    return [{ type: 'response.mcp_call_arguments.delta', ...placeOf(call), delta }]
  }

  #call({ call_id: callId, name, input }: Pick<ToolCall, 'call_id' | 'name' | 'input'>): readonly ResponseEvent[] {
    const isWritten = this.#calls.has(callId)
    const opened = isWritten ? none : this.#open(callId, name)
    const call = this.#calls.get(callId)
    if (call === undefined) return opened
    const text = JSON.stringify(input)
    const written = isWritten ? none : this.#write(callId, text)
    call.item = { ...call.item, arguments: text }
    this.#output.set(call.index, call.item)
    return [...opened, ...written, { type: 'response.mcp_call_arguments.done', ...placeOf(call), arguments: text }]
  }

  #result({ call_id: callId, name, output, error }: ToolResult): readonly ResponseEvent[] {
    // It was asked for in an earlier response, or nobody told of it.
    const input = this.#earlier?.inputs.get(callId) ?? null
    const opened = this.#calls.has(callId) ? none : this.#call({ call_id: callId, name, input })
    const call = this.#calls.get(callId)
    if (call === undefined) return opened
    this.#calls.delete(callId)
    const item: ToolItem =
      error === undefined
        ? { ...call.item, status: 'completed', output: asText(output) }
        : { ...call.item, status: 'failed', error: error.message }
    const type = error === undefined ? 'response.mcp_call.completed' : 'response.mcp_call.failed'
    return [...opened, { type, ...placeOf(call) }, this.#output.done(call.index, item)]
  }

  #ask(request: InputRequired & Stamp): readonly ResponseEvent[] {
    const { run_id: runId } = this.#run
    const callId = requestId(request)
    // The call itself comes after the answer.
    const left = this.#leave(callId)
    const { tool, prompt, data, schema } = request
    const kind = kindOf(request)
    if (kind === 'approval') {
      const shown = { id: approvalId(runId, callId), type: 'mcp_approval_request', server_label: 'agentserve' } as const
      const args = JSON.stringify(data ?? (tool === undefined ? { prompt } : {}))
      return [...left, ...this.#output.both({ ...shown, name: tool ?? 'approve', arguments: args })]
    }
    const asked = { prompt, ...(schema !== undefined && { schema }), ...(data !== undefined && { data }) }
    const [name, args] = kind === 'tool' ? [tool ?? '', data ?? {}] : [question, asked]
    return [...left, ...this.#output.callOfCaller(callId, wireCallId(runId, callId), name, JSON.stringify(args))]
  }

  #leave(callId: string): readonly ResponseEvent[] {
    const call = this.#calls.get(callId)
    if (call === undefined) return none
    this.#calls.delete(callId)
    return [this.#output.done(call.index, { ...call.item, status: 'incomplete' })]
  }

  #file({ seq, ...file }: SentFile & Stamp): readonly ResponseEvent[] {
    const { data, media_type: type, file_id: fileId, name, url } = file
    if (data !== undefined && /^image\//i.test(type)) return this.#output.image(seq, data)
    const title = (name ?? fileId ?? 'file').replace(/[[\]]/g, ' ')
    if (url !== undefined) {
      return this.#output.whole(seq, outputText(`${/^image\//i.test(type) ? '!' : ''}[${title}](${url})`))
    }
    const path = fileId === undefined ? [] : [{ type: 'file_path', file_id: fileId, index: 0 } as const]
    return this.#output.whole(seq, outputText(title, path))
  }

  #closeAll(status: 'completed' | 'incomplete', isLast: boolean): readonly ResponseEvent[] {
    const closed = this.#closeBlock(status, isLast)
    return [...closed, ...[...this.#calls.keys()].flatMap((callId) => this.#leave(callId))]
  }

  #end(event: (RunEndEvent | RunErrorEvent) & Stamp): readonly ResponseEvent[] {
    const status = event.type === 'run_error' ? 'failed' : event.status
    const isWhole = status === 'completed' || status === 'input_required'
    const closed = this.#closeAll(isWhole ? 'completed' : 'incomplete', true)
    if (isWhole) {
      this.#status = 'completed'
      this.#completedAt = event.at
      return [...closed, this.#told('completed')]
    }
    if (status === 'cancelled') {
      this.#status = 'cancelled'
      // The stream has no event for it.
      return [...closed, this.#told('incomplete')]
    }
    this.#status = 'failed'
    this.#error =
      event.type === 'run_error'
        ? event.error.message
        : explainEnd({ run_id: event.run_id, status, error: null, cancellation_reason: null })
    return [...closed, this.#told('failed')]
  }
}

function placeOf({ index, item }: { index: number; item: ToolItem }) {
  return { output_index: index, item_id: item.id }
}
