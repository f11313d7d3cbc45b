import type { RunEndEvent, RunErrorEvent, RunResumedEvent, Stamp } from '../../core/event.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { filePartOf } from '../../core/message.ts'
import type { ModelUsage } from '../../core/run.ts'
import { kindOf } from '../../core/waiting.ts'
import { type Block, Blocks } from '../blocks.ts'
import { requestId } from '../call-id.ts'
import { addressOf, type FileAddress } from '../kept-file.ts'
import type { ShownEvent } from '../projection.ts'
import { AgUiCalls, type Asked } from './calls.ts'
import { addUsageOf, type Ending, endOf } from './ending.ts'
import { type AgUiEvent, type Named, none, started } from './event.ts'
import { interruptIdOf, messageIdOf, reasoningIdOf } from './ids.ts'
import { AgUiSteps } from './steps.ts'

export interface AgUiRunOptions {
  named: Named
  /** The number of the event with which the stretch begins; earlier events are taken in and not shown. */
  from: number
  /** The client has said that it speaks 1.0. */
  isModern: boolean
  fileAddress: FileAddress
  /** The session's state with which the stretch begins. */
  state?: JsonObject | null | undefined
  /** All stretches, without their beginnings and ends, for a client that was not there. */
  isHistory?: boolean
  /** The client has the beginning of the stream. */
  isBegun?: boolean
}

/** One stretch of a run as AG-UI's run: the events of its stream. */
export class AgUiRun {
  /** The session's state as far as it is known. Whoever can read it sets it before the stretch ends. */
  state: JsonObject | null | undefined
  readonly #options: AgUiRunOptions
  readonly #blocks = new Blocks()
  readonly #calls: AgUiCalls
  readonly #steps = new AgUiSteps()
  #about: { run_id: string; session_id: string; agent_id: string } = { run_id: '', session_id: '', agent_id: '' }
  #asked: Asked[] = []
  /** The assistant's message that texts and calls are put into. */
  #message: { id: string; isAnswered: boolean } | undefined
  #usage: readonly ModelUsage[] = []
  #result: Json | undefined
  #shownState: string | undefined

  constructor(options: AgUiRunOptions) {
    this.#options = options
    this.state = options.state
    this.#calls = new AgUiCalls(options.isHistory === true)
  }

  add(event: ShownEvent): readonly AgUiEvent[] {
    if (event.type !== 'file') this.#usage = addUsageOf(this.#usage, event)
    switch (event.type) {
      case 'run_start':
        this.#about = { run_id: event.run_id, session_id: event.session_id, agent_id: event.entity_id }
        return event.seq === this.#options.from ? this.#begin() : none
      case 'run_resumed':
        return this.#resume(event)
      case 'text_delta':
        return event.text === '' ? none : this.#delta('text', event.text, event)
      case 'reasoning_delta':
        return event.text === '' ? none : this.#delta('reasoning', event.text, event)
      case 'model_call_start': {
        const closed = [...this.#closeBlock(), ...this.#calls.unfinished()]
        this.#message = undefined
        return closed
      }
      case 'tool_input_delta':
        return [...this.#closeBlock(), ...this.#calls.input(event, () => this.#messageId(event))]
      case 'tool_call':
        return [...this.#closeBlock(), ...this.#calls.call(event, () => this.#messageId(event))]
      case 'tool_progress':
        return [...this.#closeBlock(), ...this.#calls.progress(event)]
      case 'tool_result': {
        const shown = [...this.#closeBlock(), ...this.#calls.result(event, () => this.#messageId(event))]
        if (this.#message !== undefined) this.#message.isAnswered = true
        return shown
      }
      case 'input_required':
        this.#asked.push(event)
        return [...this.#closeBlock(), ...this.#calls.ask(event, () => this.#messageId(event))]
      case 'source': {
        const { type: _, run_id: _r, seq: _s, at: _a, ...value } = event
        return this.#custom('source', value)
      }
      case 'retrieval': {
        const results = event.results.map(({ chunk_id, source, score }) => ({ chunk_id, source, score }))
        return this.#custom('retrieval', { query: event.query, results })
      }
      case 'data':
        this.#result = event.data
        return this.#custom('data', event.data)
      case 'file': {
        const url = addressOf(event, this.#about.session_id, this.#options.fileAddress)
        const { type: _, ...part } = filePartOf(event)
        return this.#custom('file', { ...part, ...(url !== undefined && { url }) })
      }
      case 'step_start':
        return [...this.#closeBlock(), ...this.#steps.start(event)]
      case 'step_end':
        return [...this.#closeBlock(), ...this.#steps.end(event)]
      case 'run_end':
      case 'run_error':
        return this.#end(event)
      default:
        return none
    }
  }

  /** What waits, and the calls by which the client knows it. */
  waiting(): Pick<Ending, 'asked' | 'calls'> {
    return { asked: this.#asked, calls: this.#calls }
  }

  /** The events that end a stream which lost its run. */
  broken(code: string, message: string): readonly AgUiEvent[] {
    return [{ type: 'RUN_ERROR', message, code }]
  }

  #begin(): readonly AgUiEvent[] {
    const { named, isHistory, isBegun } = this.#options
    if (isHistory) return none
    this.#usage = []
    this.#result = undefined
    const value = { ...this.#about }
    const opening: AgUiEvent[] = isBegun ? [] : [started(named), { type: 'CUSTOM', name: 'agentserve.run', value }]
    if (isBegun) this.#shownState = this.#stateText()
    return [...opening, ...this.#snapshot(), ...this.#steps.reopen()]
  }

  #resume(event: RunResumedEvent & Stamp): readonly AgUiEvent[] {
    const closed = [...this.#closeBlock(), ...this.#calls.unfinished()]
    this.#message = undefined
    if (event.from !== 'input_required') return closed
    const asked = this.#asked
    this.#asked = []
    const begun = event.seq === this.#options.from ? this.#begin() : closed
    return [...begun, ...this.#calls.answer(asked, event)]
  }

  #stateText(): string | undefined {
    const { state } = this
    return state === undefined || state === null || Object.keys(state).length === 0 ? undefined : JSON.stringify(state)
  }

  /** The session's state, unless the client has it. */
  #snapshot(): readonly AgUiEvent[] {
    const text = this.#stateText() ?? (this.#shownState === undefined ? undefined : '{}')
    if (text === undefined || text === this.#shownState || this.state === undefined) return none
    this.#shownState = text
    return [{ type: 'STATE_SNAPSHOT', snapshot: this.state ?? {} }]
  }

  #messageId({ run_id, seq }: Stamp): string {
    this.#message ??= { id: messageIdOf(run_id, seq), isAnswered: false }
    return this.#message.id
  }

  #delta(kind: Block['kind'], delta: string, stamp: Stamp): readonly AgUiEvent[] {
    const { block, opened, closed } = this.#blocks.delta(kind, stamp.seq)
    const before = closed === undefined ? none : this.#endOf(closed)
    if (kind === 'reasoning') {
      const messageId = reasoningIdOf(stamp.run_id, block.seq)
      const content: AgUiEvent = { type: 'REASONING_MESSAGE_CONTENT', messageId, delta }
      if (!opened) return [content]
      return [
        ...before,
        { type: 'REASONING_START', messageId },
        { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
        content,
      ]
    }
    // What is said after the outcome of a call is another message: clients put the outcome behind the one that called.
    if (opened && this.#message?.isAnswered) this.#message = undefined
    const messageId = this.#messageId(stamp)
    const content: AgUiEvent = { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }
    return opened ? [...before, { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }, content] : [content]
  }

  #endOf({ kind, seq }: Block): readonly AgUiEvent[] {
    if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId: this.#message?.id ?? '' }]
    const messageId = reasoningIdOf(this.#about.run_id, seq)
    return [
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ]
  }

  #closeBlock(): readonly AgUiEvent[] {
    const closed = this.#blocks.close()
    return closed === undefined ? none : this.#endOf(closed)
  }

  #custom(name: string, value: unknown): readonly AgUiEvent[] {
    return [...this.#closeBlock(), { type: 'CUSTOM', name: `agentserve.${name}`, value: value as Json }]
  }

  #end(event: (RunEndEvent | RunErrorEvent) & Stamp): readonly AgUiEvent[] {
    const { named, isModern, isHistory } = this.#options
    const closed = [...this.#closeBlock(), ...this.#calls.unfinished()]
    const status = event.type === 'run_end' ? event.status : 'failed'
    const open = status === 'completed' ? this.#calls.open() : none
    if (isHistory) return [...closed, ...open]
    const asked = status === 'input_required' ? this.#asked : []
    const waitingIn = (child: string) =>
      asked.flatMap((request) =>
        request.child_run_id === child && kindOf(request) !== 'tool'
          ? [interruptIdOf(request.run_id, requestId(request))]
          : [],
      )
    const steps = this.#steps.close(status === 'input_required' ? waitingIn : undefined)
    const ending = { named, asked, calls: this.#calls, usage: this.#usage, result: this.#result, isModern }
    return [...closed, ...open, ...steps, ...this.#snapshot(), endOf(event, ending)]
  }
}
