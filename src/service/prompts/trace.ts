import { invalid } from '../../core/error.ts'
import type { ModelCallStart, RunEvent, Stamp } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { PageRequest } from '../../core/page.ts'
import type { RunHead } from '../../core/run.ts'
import type { SessionStore } from '../../core/store.ts'
import type { RunTrace, TracedCall, TracedRetrieval, TracedToolCall } from '../../core/trace.ts'
import type { RecordedRuns } from '../events/reader.ts'
import { PromptReader } from './reader.ts'
import { type ToldCall, toFields } from './record.ts'

/** A page is full when its prompts have so many characters. */
const pageCharacters = 4_000_000

/** Read first, since most pages end soon. */
const fewEvents = 2_000
const manyEvents = 20_000
/** What a trace tells of that is not a call's text; a source belongs to what was found before it. */
const tracedTypes = ['model_call_start', 'model_call_end', 'tool_call', 'tool_result', 'retrieval'] as const
const childrenAtOnce = 1_000
/** Pages that may be continued without reading again what their last call was told. */
const keptPlaces = 16

/** What was recorded of runs as their model calls saw it, in pages of calls, each of which costs what is in it. */
export function createTraces(store: SessionStore, recorded: RecordedRuns) {
  /** By run and cursor: what the last call of the page before was told. */
  const places = new Map<string, ToldCall | undefined>()

  /** Reads the calls from one that depends on no other up to `after`. */
  async function readUpTo(reader: PromptReader, runId: string, { after, independent }: Place): Promise<void> {
    for (let last = Math.max(0, independent - 1); last < after; ) {
      const events = await store.readEvents(runId, last, Math.min(manyEvents, after - last), ['model_call_start'])
      if (events.length === 0) return
      for (const event of events) {
        last = event.seq
        if (event.type === 'model_call_start' && last <= after) await reader.read(event)
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

  return async (run: RunHead, page: PageRequest): Promise<RunTrace> => {
    const { run_id, session_id, parent_run_id, entity_id, entity_kind, status } = run
    const place = placeOf(page.cursor)
    const { after } = place
    const key = `${run_id} ${page.cursor}`
    const reader = new PromptReader(run, recorded, places.get(key), place.independent)
    if (after > 0 && !places.has(key)) await readUpTo(reader, run_id, place)
    const tracer = new Tracer(reader, page.limit)
    let skips = false
    let atOnce = fewEvents
    reading: for (let last = after; tracer.next === null; ) {
      const events = await store.readEvents(run_id, last, atOnce, skips ? tracer.types : undefined)
      if (events.length === 0) break
      for (const event of events) {
        if (skips && tracer.begins(event)) {
          // It is read again, with what follows it.
          last = event.seq - 1
          skips = false
          continue reading
        }
        const begun = tracer.add(event)
        if (begun !== undefined) await begun
        if (tracer.next !== null) break
        last = event.seq
      }
      // Far from a call, the rest is looked through for what a trace tells of.
      skips ||= !tracer.takesText
      atOnce = manyEvents
    }
    const { calls, next } = tracer
    if (next !== null) {
      places.set(`${run_id} ${next}`, reader.last)
      const [oldest] = places.keys()
      if (places.size > keptPlaces && oldest !== undefined) places.delete(oldest)
    }
    const about = { run_id, session_id, parent_run_id, entity_id, entity_kind, status }
    return { ...about, child_run_ids: await childrenOf(run_id), calls, count: calls.length, next_cursor: next }
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

  /** Whether texts that come now are those of a call. */
  get takesText(): boolean {
    return this.#open?.finish_reason === null
  }

  /** What may come that it takes, when no text is. */
  get types(): readonly RunEvent['type'][] {
    return this.#retrievals.length === 0 ? tracedTypes : [...tracedTypes, 'source']
  }

  /** Whether it takes more types of events from then on. */
  begins({ type }: RunEvent): boolean {
    return type === 'model_call_start' || (type === 'retrieval' && this.#retrievals.length === 0)
  }

  /** Waits for what a call needs that is read; nothing else does. */
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
    }
  }

  async #begin(event: ModelCallStart & Stamp): Promise<void> {
    const retrievals = this.#retrievals
    this.#retrievals = []
    this.#open = undefined
    if (this.next !== null) return
    const last = this.calls.at(-1)
    if (last !== undefined && (this.calls.length === this.#limit || this.#characters > pageCharacters)) {
      this.next = `${last.seq}.${this.#reader.independent}`
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

/** A prompt that is no list of messages is recorded as it is. */
function rest({ prompt, messages }: ModelCallStart): { messages?: Json; tools?: Json; settings?: null } {
  return prompt === undefined && messages !== undefined ? { messages } : {}
}

/** The number of the call that a page continues behind, and of one before it that depends on no other. */
interface Place {
  after: number
  independent: number
}

function placeOf(cursor: string | undefined): Place {
  if (cursor === undefined) return { after: 0, independent: 0 }
  const [, after, independent = 0] = /^(\d{1,15})(?:\.(\d{1,15}))?$/.exec(cursor) ?? []
  if (after !== undefined) return { after: Number(after), independent: Math.min(Number(independent), Number(after)) }
  throw invalid('Invalid cursor. Omit it to start at the first page.', 'cursor')
}
