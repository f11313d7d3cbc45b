import type { RunEvent } from '../core/event.ts'
import { cut, readable } from './cut.ts'

const restMs = 250
const textMs = 10_000
const mostCharacters = 200

/**
 * What a host is told while a run works. By the time of the events alone: at most one message in 250 ms, and of text one that
 * comes 10 s after the last message. Events from before `since` are not told: the host did not ask yet.
 */
export class Progress {
  readonly #since: number
  #last = Number.NEGATIVE_INFINITY
  #seq = 0

  constructor(since: number) {
    this.#since = since
  }

  add(event: RunEvent): { progress: number; message: string } | undefined {
    const message = messageOf(event)
    if (message === undefined || event.seq <= this.#seq) return undefined
    const at = Date.parse(event.at)
    if (at < this.#since || at - this.#last < (event.type === 'text_delta' ? textMs : restMs)) return undefined
    this.#last = at
    this.#seq = event.seq
    return { progress: event.seq, message: cut(readable(message), mostCharacters).text }
  }
}

function messageOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'run_start':
      return 'started'
    case 'run_resumed':
      return 'continues'
    case 'model_call_start':
      return `calling ${event.model}`
    case 'tool_call':
      return `using ${event.name}`
    case 'step_start':
      return `working on ${event.name}`
    case 'retrieval':
      return event.results.length === 1 ? 'found 1 passage' : `found ${event.results.length} passages`
    case 'text_delta':
      return 'writing the answer'
    default:
      return undefined
  }
}
