import { addToParts, type Part } from '../../core/message.ts'
import type { CallAnswer } from '../../core/run.ts'
import type { RunEvent } from '../../wire/event.ts'

export type Source = Extract<RunEvent, { type: 'source' }>
type Asked = Extract<RunEvent, { type: 'input_required' }>

/** What a run asked a person, and what it was told. */
export interface Exchange {
  asked: Asked
  /** Undefined while nobody has answered. */
  given: CallAnswer | undefined
}

/** What a turn shows of its run's events. Each is folded once and then forgotten, so that a long run costs what its answer costs. */
export class Answer {
  readonly parts: Part[] = []
  readonly sources: Source[] = []
  readonly exchanges: Exchange[] = []
  reasoning = ''
  /** Of the last event. */
  seq = 0
  /** The event to look at when the run has failed: of the step in which it happened. */
  failedAt: number | undefined
  /** By the passage that it found: the event of the search. */
  readonly #searches = new Map<string, number>()
  /** Calls and steps that are under way, by their id. */
  readonly #open = new Map<string, number>()

  /**
   * Whether a live event may be added. The stream may still hand over what comes late in a run that is only now followed from its
   * beginning: with it the events between would be lost.
   */
  follows(event: RunEvent): boolean {
    return this.seq > 0 || event.seq === 1
  }

  /** False for events that it has already. */
  add(event: RunEvent): boolean {
    if (event.seq <= this.seq) return false
    this.seq = event.seq
    this.#fold(event)
    return true
  }

  /** The event that tells how the passage was found. */
  foundAt({ chunk_id, seq }: Source): number {
    return this.#searches.get(chunk_id) ?? seq
  }

  #fold(event: RunEvent): void {
    switch (event.type) {
      case 'source':
        this.sources.push(event)
        return
      case 'reasoning_delta':
        this.reasoning += event.text
        return
      case 'retrieval':
        for (const { chunk_id } of event.results) this.#searches.set(chunk_id, event.seq)
        return
      case 'model_call_start':
      case 'tool_call':
        this.#open.set(event.call_id, event.seq)
        return
      case 'step_start':
        this.#open.set(event.step_id, event.seq)
        return
      case 'model_call_end':
        this.#ended(event.call_id, event.finish_reason === 'error')
        return
      case 'tool_result':
        this.#ended(event.call_id, event.error !== undefined)
        return
      case 'step_end':
        this.#ended(event.step_id, event.status === 'failed')
        return
      case 'input_required':
        this.exchanges.push({ asked: event, given: undefined })
        return
      case 'run_resumed':
        if (event.from === 'input_required') this.#answered(event)
        return
      case 'run_error':
        this.failedAt = [...this.#open.values()].at(-1) ?? this.failedAt ?? event.seq
        return
      default:
        addToParts(this.parts, event as Parameters<typeof addToParts>[1])
    }
  }

  #ended(id: string, failed: boolean): void {
    if (failed) this.failedAt = this.#open.get(id)
    this.#open.delete(id)
  }

  #answered({ answers = {}, approved, input }: Extract<RunEvent, { type: 'run_resumed' }>): void {
    for (const exchange of this.exchanges) {
      if (exchange.given !== undefined) continue
      const id = exchange.asked.call_id ?? ''
      const decision = typeof approved === 'object' ? approved[id] : approved
      exchange.given = answers[id] ?? {
        ...(decision !== undefined && { approved: decision }),
        ...(input !== undefined && { input }),
      }
    }
  }
}
