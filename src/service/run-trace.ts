import { invalid } from '../core/error.ts'
import type { ModelCallStart, RunEvent, Stamp } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { PageRequest } from '../core/page.ts'
import type { RunHead } from '../core/run.ts'
import type { RunTrace, TracedCall, TracedRetrieval, TracedToolCall } from '../core/trace.ts'
import type { PromptReader } from './prompt-reader.ts'
import { toFields } from './prompt-record.ts'

/** A page is full when its prompts have so many characters. */
const pageCharacters = 4_000_000

/** What was recorded of a run as its model calls saw it, in pages of calls. `batches` are its events from the first on. */
export async function traceRun(
  run: RunHead,
  batches: AsyncIterable<readonly RunEvent[]>,
  reader: PromptReader,
  page: PageRequest,
): Promise<RunTrace> {
  const { run_id, session_id, parent_run_id, entity_id, entity_kind, status } = run
  const tracer = new Tracer(reader, placeOf(page.cursor), page.limit)
  for await (const events of batches) for (const event of events) await tracer.add(event)
  const { calls, children: child_run_ids, next } = tracer
  const about = { run_id, session_id, parent_run_id, entity_id, entity_kind, status, child_run_ids }
  return { ...about, calls, count: calls.length, next_cursor: next }
}

class Tracer {
  readonly calls: TracedCall[] = []
  readonly children: string[] = []
  next: string | null = null
  readonly #reader: PromptReader
  readonly #after: number
  readonly #limit: number
  readonly #toolCalls = new Map<string, TracedToolCall>()
  #retrievals: TracedRetrieval[] = []
  #open: TracedCall | undefined
  #characters = 0

  constructor(reader: PromptReader, after: number, limit: number) {
    this.#reader = reader
    this.#after = after
    this.#limit = limit
  }

  async add(event: RunEvent): Promise<void> {
    switch (event.type) {
      case 'model_call_start':
        return this.#begin(event)
      case 'model_call_end':
        if (this.#open?.call_id !== event.call_id) return
        this.#open.finish_reason = event.finish_reason
        this.#open.usage = event.usage
        this.#open.duration_ms = event.duration_ms
        return
      case 'text_delta':
        if (this.#open?.finish_reason === null) this.#open.text += event.text
        return
      case 'reasoning_delta':
        if (this.#open?.finish_reason === null) this.#open.reasoning += event.text
        return
      case 'tool_call':
        return this.#addToolCall(event)
      case 'tool_result': {
        const call = this.#toolCalls.get(event.call_id)
        if (call === undefined) return
        if (event.output !== undefined) call.output = event.output
        if (event.error !== undefined) call.error = event.error
        call.duration_ms = event.duration_ms
        return
      }
      case 'retrieval': {
        const passages = event.results.map((result) => ({ ...result, index: null }))
        this.#retrievals.push({ query: event.query, passages })
        return
      }
      case 'source': {
        const { type: _type, run_id: _run, seq: _seq, at: _at, ...source } = event
        const passage = this.#retrievals.at(-1)?.passages.find(({ chunk_id }) => chunk_id === source.chunk_id)
        if (passage !== undefined) Object.assign(passage, source)
        return
      }
      case 'step_start':
        if (event.child_run_id !== undefined && !this.children.includes(event.child_run_id))
          this.children.push(event.child_run_id)
    }
  }

  async #begin(event: ModelCallStart & Stamp): Promise<void> {
    const retrievals = this.#retrievals
    this.#retrievals = []
    this.#open = undefined
    if (this.next !== null) return
    const last = this.calls.at(-1)
    if (last !== undefined && (this.calls.length === this.#limit || this.#characters > pageCharacters)) {
      this.next = String(last.seq)
      return
    }
    await this.#reader.read(event)
    if (event.seq <= this.#after) return
    const told = this.#reader.last
    this.#characters += told?.messages.reduce((sum, text) => sum + text.length, 0) ?? 0
    const { messages = null, tools = null, settings = null } = told === undefined ? rest(event) : toFields(told)
    const { call_id, model, seq, at } = event
    const given = { text: '', reasoning: '', tool_calls: [], finish_reason: null, usage: null, duration_ms: null }
    this.#open = { call_id, model, seq, at, messages, tools, settings, retrievals, ...given }
    this.calls.push(this.#open)
  }

  #addToolCall({ call_id, name, input }: Extract<RunEvent, { type: 'tool_call' }>): void {
    if (this.#open === undefined) return
    const call: TracedToolCall = { call_id, name, input, duration_ms: null }
    this.#toolCalls.set(call_id, call)
    this.#open.tool_calls.push(call)
  }
}

/** A prompt that is no list of messages is recorded as it is. */
function rest({ prompt, messages }: ModelCallStart): { messages?: Json; tools?: Json; settings?: null } {
  return prompt === undefined && messages !== undefined ? { messages } : {}
}

function placeOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw invalid('This is not a cursor that this list gave; leave it out to begin at the first page.', 'cursor')
}
