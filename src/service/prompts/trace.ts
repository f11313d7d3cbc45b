import { AppError, invalidCursor } from '../../core/error.ts'
import type { ModelCallStart, RunEvent, Stamp } from '../../core/event.ts'
import type { RunTrace, TracedCall, TracedRetrieval, TracedToolCall, TraceRequest } from '../../core/events/trace.ts'
import type { Json } from '../../core/json.ts'
import type { RunHead } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import type { RecordedRuns } from '../events/reader.ts'
import { PromptReader } from './reader.ts'
import { isIndependent, type ToldCall, toFields } from './record.ts'

/** A page is full when its prompts reach this many characters. */
const pageCharacters = 4_000_000

/** Size of the first read: most pages end soon. */
const fewEvents = 2_000
const manyEvents = 20_000
/** The event types of a trace, without text deltas and sources. A source belongs to the retrieval before it. */
const tracedTypes = ['model_call_start', 'model_call_end', 'tool_call', 'tool_result', 'retrieval'] as const
const childrenAtOnce = 1_000
/** Number of cached cursors: their pages continue without restoring the last prompt again. */
const maxCachedPrompts = 16

/** Traces of recorded runs in pages of model calls. A page costs what it contains, however long the run is. */
export function createTraces(store: SessionStore, recorded: RecordedRuns) {
  /** By run and cursor: the prompt of the last call on the page before. */
  const lastPrompts = new Map<string, ToldCall | undefined>()

  /** Reads the calls up to `after`, starting at one that refers to no earlier call. */
  async function readUpTo(reader: PromptReader, runId: string, { after, independent }: PageStart): Promise<void> {
    for (let last = Math.max(0, independent - 1); last < after; ) {
      const events = await store.readEvents(runId, last, Math.min(manyEvents, after - last), ['model_call_start'])
      if (events.length === 0) return
      for (const event of events) {
        last = event.seq
        if (event.type === 'model_call_start' && last <= after) await reader.read(event)
      }
    }
  }

  /** The page that begins with a call. */
  async function pageOf(runId: string, callId: string): Promise<PageStart> {
    let start: PageStart = { after: 0, independent: 0 }
    for (let last = 0; ; ) {
      const events = await store.readEvents(runId, last, manyEvents, ['model_call_start'])
      if (events.length === 0) throw new AppError('call_not_found', `The run has no model call '${callId}'.`, { runId })
      for (const event of events) {
        last = event.seq
        if (event.type !== 'model_call_start') continue
        if (event.call_id === callId) return start
        const { prompt, seq: after } = event
        start = { after, independent: prompt === undefined || isIndependent(prompt) ? after : start.independent }
      }
    }
  }

  async function childrenOf(runId: string): Promise<string[]> {
    const ids: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { items, next } = await store.listRuns({ parent_run_id: runId }, { limit: childrenAtOnce, cursor })
      ids.push(...items.map(({ run_id }) => run_id))
      if (next === null) return ids.reverse()
      cursor = next
    }
  }

  return async (run: RunHead, { call, cursor, limit }: TraceRequest): Promise<RunTrace> => {
    const { run_id, session_id, parent_run_id, entity_id, entity_kind, status } = run
    const start = call === undefined ? readCursor(cursor) : await pageOf(run_id, call)
    const { after } = start
    const key = `${run_id} ${cursorOf(start)}`
    const reader = new PromptReader(run, recorded, lastPrompts.get(key), start.independent)
    if (after > 0 && !lastPrompts.has(key)) await readUpTo(reader, run_id, start)
    const tracer = new Tracer(reader, call === undefined ? limit : 1)
    let skips = false
    let atOnce = fewEvents
    reading: for (let last = after; tracer.next === null; ) {
      const events = await store.readEvents(run_id, last, atOnce, skips ? tracer.types : undefined)
      if (events.length === 0) break
      for (const event of events) {
        if (skips && tracer.begins(event)) {
          // Read it again, with the events after it.
          last = event.seq - 1
          skips = false
          continue reading
        }
        const begun = tracer.add(event)
        if (begun !== undefined) await begun
        if (tracer.next !== null) break
        last = event.seq
      }
      // Outside a call, read only the types of a trace.
      skips ||= !tracer.takesText
      atOnce = manyEvents
    }
    const { calls, next } = tracer
    if (next !== null) {
      lastPrompts.set(`${run_id} ${next}`, reader.last)
      const [oldest] = lastPrompts.keys()
      if (lastPrompts.size > maxCachedPrompts && oldest !== undefined) lastPrompts.delete(oldest)
    }
    const about = { run_id, session_id, parent_run_id, entity_id, entity_kind, status }
    return {
      ...about,
      child_run_ids: await childrenOf(run_id),
      calls,
      retrievals: call === undefined ? tracer.retrievals : [],
      count: calls.length,
      next_cursor: call === undefined ? next : null,
    }
  }
}

class Tracer {
  readonly calls: TracedCall[] = []
  next: string | null = null
  readonly #reader: PromptReader
  readonly #limit: number
  readonly #toolCalls = new Map<string, TracedToolCall>()
  #retrievals: TracedRetrieval[] = []
  #open: TracedCall | undefined
  #characters = 0

  constructor(reader: PromptReader, limit: number) {
    this.#reader = reader
    this.#limit = limit
  }

  /** Since the last call; none while there are more calls. */
  get retrievals(): TracedRetrieval[] {
    return this.#retrievals
  }

  /** Whether text deltas belong to a call now. */
  get takesText(): boolean {
    return this.#open?.finish_reason === null
  }

  /** The event types to read while no text is taken. */
  get types(): readonly RunEvent['type'][] {
    return this.#retrievals.length === 0 ? tracedTypes : [...tracedTypes, 'source']
  }

  /** Whether more event types are taken from this event on. */
  begins({ type }: RunEvent): boolean {
    return type === 'model_call_start' || (type === 'retrieval' && this.#retrievals.length === 0)
  }

  /** Gives a promise only for the start of a call, whose prompt may have to be read. */
  add(event: RunEvent): Promise<void> | undefined {
    if (event.type === 'model_call_start') return this.#begin(event)
    this.#addTo(event)
    return undefined
  }

  #addTo(event: Exclude<RunEvent, ModelCallStart>): void {
    switch (event.type) {
      case 'model_call_end':
        if (this.#open?.call_id !== event.call_id) return
        this.#open.finish_reason = event.finish_reason
        this.#open.usage = event.usage
        this.#open.duration_ms = event.duration_ms
        if (event.first_text_ms !== undefined) this.#open.first_text_ms = event.first_text_ms
        return
      case 'text_delta':
        if (this.#open?.finish_reason === null) this.#open.text += event.text
        return
      case 'reasoning_delta':
        if (this.#open?.finish_reason === null) this.#open.reasoning += event.text
        return
      case 'tool_call':
        this.#addToolCall(event)
        return
      case 'tool_result': {
        const call = this.#toolCalls.get(event.call_id)
        if (call === undefined) return
        if (event.output !== undefined) call.output = event.output
        if (event.error !== undefined) call.error = event.error
        if (event.denied) call.denied = true
        call.duration_ms = event.duration_ms
        return
      }
      case 'retrieval': {
        const { type: _type, run_id: _run, seq: _seq, at: _at, results, ...about } = event
        this.#retrievals.push({ ...about, passages: results.map((result) => ({ ...result, index: null })) })
        return
      }
      case 'source': {
        const { type: _type, run_id: _run, seq: _seq, at: _at, ...source } = event
        const passage = this.#retrievals.at(-1)?.passages.find(({ chunk_id }) => chunk_id === source.chunk_id)
        if (passage !== undefined) Object.assign(passage, source)
        return
      }
    }
  }

  async #begin(event: ModelCallStart & Stamp): Promise<void> {
    const retrievals = this.#retrievals
    this.#retrievals = []
    this.#open = undefined
    if (this.next !== null) return
    const last = this.calls.at(-1)
    if (last !== undefined && (this.calls.length === this.#limit || this.#characters > pageCharacters)) {
      this.next = cursorOf({ after: last.seq, independent: this.#reader.independent })
      return
    }
    await this.#reader.read(event)
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

/** A prompt that is not a list of messages is recorded as it is. */
function rest({ prompt, messages }: ModelCallStart): { messages?: Json; tools?: Json; settings?: null } {
  return prompt === undefined && messages !== undefined ? { messages } : {}
}

/** A page continues after the call number `after`; `independent` is a call before it that refers to no earlier call. */
interface PageStart {
  after: number
  independent: number
}

function cursorOf({ after, independent }: PageStart): string {
  return `${after}.${independent}`
}

function readCursor(cursor: string | undefined): PageStart {
  if (cursor === undefined) return { after: 0, independent: 0 }
  const [, after, independent = 0] = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(cursor) ?? []
  if (after !== undefined) return { after: Number(after), independent: Math.min(Number(independent), Number(after)) }
  throw invalidCursor()
}
