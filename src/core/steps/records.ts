import type { RunEvent } from '../event.ts'
import { addToParts, type Part } from '../message.ts'

export type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>

/** What a model call gave, and what was found for it. */
export interface CallRecord {
  callId: string
  /** From 1. */
  number: number
  /** How many calls failed before it, one after the other. */
  failuresBefore: number
  /** Since the call before. */
  searches: readonly EventOf<'retrieval'>[]
  parts: Part[]
  reasoning: string
  toolCalls: EventOf<'tool_call'>[]
}

/** A run's events by the step that they belong to. Each event is looked at once. */
export class StepRecords {
  readonly calls: CallRecord[] = []
  readonly sources: EventOf<'source'>[] = []
  /** The text, data and files of all calls. */
  readonly parts: Part[] = []
  /** By call or step id. */
  readonly #byId = new Map<string, RunEvent[]>()
  /** Those without such an id. */
  readonly #bySeq = new Map<number, RunEvent>()
  /** Of each tool call: the tool with its input, and how often they had failed. */
  readonly #tries = new Map<string, { what: string; failures: number }>()
  readonly #failed = new Map<string, number>()
  readonly #resumed: EventOf<'run_resumed'>[] = []
  readonly #ends: RunEvent[] = []
  #searches: EventOf<'retrieval'>[] = []
  #failures = 0

  add(event: RunEvent): void {
    const call = this.calls.at(-1)
    if ('call_id' in event && event.call_id !== undefined) this.#keep(event.call_id, event)
    if ('step_id' in event) this.#keep(event.step_id, event)
    switch (event.type) {
      case 'text_delta':
      case 'data':
      case 'file':
        addToParts(this.parts, event)
        if (call !== undefined) addToParts(call.parts, event)
        return
      case 'reasoning_delta':
        if (call !== undefined) call.reasoning += event.text
        return
      case 'source':
        this.sources.push(event)
        return
      case 'retrieval':
        this.#searches.push(event)
        break
      case 'model_call_start':
        this.#begin(event)
        return
      case 'model_call_end':
        this.#failures = event.finish_reason === 'error' ? this.#failures + 1 : 0
        return
      case 'tool_call':
        this.#tried(event)
        call?.toolCalls.push(event)
        return
      case 'tool_result': {
        const what = this.#tries.get(event.call_id)?.what
        const hasFailed = event.error !== undefined && event.denied !== true
        if (what !== undefined && hasFailed) this.#failed.set(what, (this.#failed.get(what) ?? 0) + 1)
        return
      }
      case 'run_resumed':
        this.#resumed.push(event)
        break
      case 'run_end':
      case 'run_error':
        this.#ends.push(event)
        break
      case 'run_start':
      case 'input_required':
        break
      default:
        return
    }
    this.#bySeq.set(event.seq, event)
  }

  #keep(id: string, event: RunEvent): void {
    const known = this.#byId.get(id)
    if (known === undefined) this.#byId.set(id, [event])
    else known.push(event)
  }

  #tried({ call_id: callId, name, input }: EventOf<'tool_call'>): void {
    const what = `${name} ${JSON.stringify(input)}`
    this.#tries.set(callId, { what, failures: this.#failed.get(what) ?? 0 })
  }

  #begin({ call_id: callId }: EventOf<'model_call_start'>): void {
    const searches = this.#searches
    this.#searches = []
    this.calls.push({
      callId,
      number: this.calls.length + 1,
      failuresBefore: this.#failures,
      searches,
      parts: [],
      reasoning: '',
      toolCalls: [],
    })
  }

  /** The events that say how a step began, what it gave and how it ended. */
  of({ seq, callId }: { seq: number; callId?: string }): readonly RunEvent[] {
    const first = this.#bySeq.get(seq)
    const own = callId === undefined ? [] : (this.#byId.get(callId) ?? [])
    if (first?.type === 'run_start') return [first, ...this.#ends]
    if (first?.type !== 'input_required') return first === undefined ? own : [first]
    const answer = this.answerTo(first)
    return answer === undefined ? [first] : [first, answer]
  }

  callOf(callId: string | undefined): CallRecord | undefined {
    return this.calls.find((call) => call.callId === callId)
  }

  callAfter(search: EventOf<'retrieval'>): CallRecord | undefined {
    return this.calls.find(({ searches }) => searches.includes(search))
  }

  /** What a person was asked about a call, the last time. */
  asked(callId: string | undefined): EventOf<'input_required'> | undefined {
    const own = callId === undefined ? [] : (this.#byId.get(callId) ?? [])
    return own.findLast((event) => event.type === 'input_required')
  }

  /** How often the same tool failed with the same input before. */
  failuresBefore(callId: string): number {
    return this.#tries.get(callId)?.failures ?? 0
  }

  answerTo({ seq }: EventOf<'input_required'>): EventOf<'run_resumed'> | undefined {
    return this.#resumed.find((resumed) => resumed.seq > seq)
  }

  /** The number by which the answer cites a passage of a search: the source that came after it, or else with an earlier search. */
  numberOf(chunkId: string, search: EventOf<'retrieval'>): number | undefined {
    const sources = this.sources.filter(({ chunk_id }) => chunk_id === chunkId)
    return (sources.find(({ seq }) => seq > search.seq) ?? sources.at(-1))?.index
  }
}

export type Decision = 'allowed' | 'refused'

/** What a person decided about a call. Undefined: it was answered with an input, or not by this. */
export function decisionAbout(callId: string | undefined, answer: EventOf<'run_resumed'>): Decision | undefined {
  const { approved, answers } = answer
  const own = callId === undefined ? undefined : answers?.[callId]?.approved
  const decided = own ?? (typeof approved === 'object' && callId !== undefined ? approved[callId] : approved)
  return typeof decided !== 'boolean' ? undefined : decided ? 'allowed' : 'refused'
}
