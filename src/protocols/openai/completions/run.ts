import { AppError } from '../../../core/error.ts'
import type { InputRequired, RunEndEvent, RunErrorEvent, SourceEvent, Stamp } from '../../../core/event.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { FilePart } from '../../../core/message.ts'
import type { Usage } from '../../../core/run.ts'
import { markCited } from '../../../core/text/citations.ts'
import { kindOf } from '../../../core/waiting.ts'
import { wireCallId } from '../../call-id.ts'
import { explainEnd } from '../../explain-end.ts'
import type { ShownEvent } from '../../projection.ts'
import { addStretchUsage } from '../../stretch.ts'

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'tool_calls'

/** What a stretch of a run adds to its completion. */
export type Piece =
  /** The first one. `created`: seconds. */
  | { kind: 'begin'; created: number }
  | { kind: 'content' | 'reasoning'; text: string }
  | { kind: 'call'; id: string; name: string; input: string }
  | { kind: 'end'; reason: FinishReason; agentserve: JsonObject; usage: Usage | null }
  | { kind: 'failed'; error: AppError }

export interface CompletionRunOptions {
  sessionId: string
  /** Approvals can be answered with words. */
  isNamed: boolean
  /** Calls of tools are told as reasoning, except of these, which the caller executes. */
  showTools: false | { except: ReadonlySet<string> }
}

const none: readonly Piece[] = []
const shownInput = 2000

/** A stretch of a run as a chat completion. Tools of the server stay inside: clients would execute them. */
export class CompletionRun {
  readonly #options: CompletionRunOptions
  #hasBegun = false
  #content = ''
  /** The content ends with something that is not the model's text. */
  #isApart = false
  #reason = ''
  #usage: Usage | null = null
  readonly #sources: SourceEvent[] = []
  readonly #files: JsonObject[] = []
  readonly #asked: InputRequired[] = []

  constructor(options: CompletionRunOptions) {
    this.#options = options
  }

  /** The content so far. */
  get content(): string {
    return this.#content
  }

  /** The pieces of the next event, from the first one of the stretch on. */
  add(event: ShownEvent): readonly Piece[] {
    const pieces = this.#piecesOf(event)
    if (this.#hasBegun) return pieces
    this.#hasBegun = true
    return [{ kind: 'begin', created: Math.floor(Date.parse(event.at) / 1000) }, ...pieces]
  }

  #piecesOf(event: ShownEvent): readonly Piece[] {
    switch (event.type) {
      case 'text_delta':
        return this.#text(event.text)
      case 'reasoning_delta':
        return event.text === '' ? none : [{ kind: 'reasoning', text: event.text }]
      case 'data':
        return this.#apart(JSON.stringify(event.data), '\n')
      case 'file':
        return this.#file(event)
      case 'source': {
        const { run_id: _run, seq: _seq, at: _at, ...source } = event
        this.#sources.push(source)
        return none
      }
      case 'tool_call': {
        const { showTools } = this.#options
        if (showTools === false || showTools.except.has(event.name)) return none
        return [{ kind: 'reasoning', text: `${event.name}(${shown(event.input)})\n` }]
      }
      case 'model_call_end':
        this.#reason = event.finish_reason
        this.#usage = addStretchUsage(this.#usage, event)
        return none
      case 'step_end':
        this.#usage = addStretchUsage(this.#usage, event)
        return none
      case 'input_required':
        return this.#ask(event)
      case 'run_end':
      case 'run_error':
        return this.#end(event)
      default:
        return none
    }
  }

  #text(text: string): readonly Piece[] {
    if (text === '') return none
    const shownText = this.#isApart ? `\n${text}` : text
    this.#isApart = false
    this.#content += shownText
    return [{ kind: 'content', text: shownText }]
  }

  /** Content that is not the model's text begins a line of its own. */
  #apart(text: string, gap: string): readonly Piece[] {
    const apart = this.#content === '' ? text : gap + text
    this.#content += apart
    this.#isApart = true
    return [{ kind: 'content', text: apart }]
  }

  #file({ media_type, name, file_id, size, url }: FilePart): readonly Piece[] {
    const file: JsonObject = { media_type }
    if (name !== undefined) file.name = name
    if (file_id !== undefined) file.file_id = file_id
    if (size !== undefined) file.size = size
    if (url !== undefined) file.url = url
    this.#files.push(file)
    if (url === undefined) return none
    const title = (name ?? 'file').replace(/[[\]\\\n]/g, ' ')
    const link = `[${title}](<${url.replace(/[<>\n]/g, encodeURIComponent)}>)`
    return this.#apart(media_type.startsWith('image/') ? `!${link}` : link, '\n')
  }

  #ask(event: InputRequired & Stamp): readonly Piece[] {
    this.#asked.push(event)
    if (kindOf(event) !== 'tool') return none
    const { call_id = '', tool = '', data = {} } = event
    return [{ kind: 'call', id: wireCallId(event.run_id, call_id), name: tool, input: JSON.stringify(data) }]
  }

  #end(event: (RunEndEvent | RunErrorEvent) & Stamp): readonly Piece[] {
    const error = errorOf(event, this.#options.sessionId)
    if (error !== undefined) return [{ kind: 'failed', error }]
    const isPause = event.type === 'run_end' && event.status === 'input_required'
    const questions = isPause ? this.#questions(event.run_id) : ''
    const asked = questions === '' ? none : this.#apart(questions, '\n\n')
    const calls = isPause && this.#asked.some((request) => kindOf(request) === 'tool')
    const agentserve: JsonObject = { run_id: event.run_id, session_id: this.#options.sessionId }
    agentserve.sources = markCited(this.#sources, [{ type: 'text', text: this.#content }]).map((source) => ({
      ...source,
    }))
    if (this.#files.length > 0) agentserve.files = this.#files
    return [
      ...asked,
      { kind: 'end', reason: calls ? 'tool_calls' : toReason(this.#reason), agentserve, usage: this.#usage },
    ]
  }

  /** What a person has to answer, and how. */
  #questions(runId: string): string {
    const asked = this.#asked.filter((request) => kindOf(request) !== 'tool')
    if (asked.length === 0) return ''
    const prompts = asked.map(({ prompt, data }) => (data === undefined ? prompt : `${prompt} ${shown(data)}`))
    const canSay =
      this.#options.isNamed &&
      this.#asked.every((request) => kindOf(request) === 'approval' && request.call_id !== undefined)
    const way = canSay
      ? "Reply 'approve' or 'deny'."
      : explainEnd({ run_id: runId, status: 'input_required', error: null, cancellation_reason: null })
    return `${prompts.join('\n\n')} ${way}`
  }
}

/** Why there is no whole answer; undefined when there is one, or the run waits. */
function errorOf(event: (RunEndEvent | RunErrorEvent) & Stamp, sessionId: string): AppError | undefined {
  const about = { runId: event.run_id, sessionId }
  if (event.type === 'run_error') {
    return new AppError(event.error.code === 'run_limit' ? 'run_limit' : 'run_failed', event.error.message, about)
  }
  const { run_id, status, cancellation_reason = null } = event
  if (status === 'completed' || status === 'input_required') return undefined
  const message = explainEnd({ run_id, status, error: null, cancellation_reason })
  if (status === 'interrupted') return new AppError('run_interrupted', message, about)
  return new AppError(cancellation_reason === 'timeout' ? 'timeout' : 'run_cancelled', message, about)
}

function toReason(reason: string): FinishReason {
  if (reason === 'content-filter') return 'content_filter'
  return reason === 'length' ? 'length' : 'stop'
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > shownInput ? `${text.slice(0, shownInput)}…` : text
}
