import { type AppError, toAppError } from '../../../core/error.ts'
import { isFinalEvent } from '../../../core/event.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Projection } from '../../projection.ts'
import { openaiErrorOf } from '../error.ts'
import { completionUsage } from '../usage.ts'
import { CompletionRun, type CompletionRunOptions, type Piece } from './run.ts'

export interface CompletionOptions extends CompletionRunOptions {
  id: string
  model: string
}

export interface CompletionStreamOptions extends CompletionOptions {
  /** A last chunk has the usage, and all others say that they have none. */
  includeUsage: boolean
}

const done = 'data: [DONE]\n\n'

/** The stretch as the stream of a chat completion. */
export class CompletionProjection implements Projection {
  readonly #options: CompletionStreamOptions
  readonly #run: CompletionRun
  #head = ''
  #calls = 0
  #isCompleted = false

  constructor(options: CompletionStreamOptions) {
    this.#options = options
    this.#run = new CompletionRun(options)
  }

  /** The whole content, once the run has completed. */
  get answer(): string | undefined {
    return this.#isCompleted ? this.#run.content : undefined
  }

  add(event: Parameters<Projection['add']>[0]): string {
    let frames = ''
    for (const piece of this.#run.add(event)) frames += this.#frame(piece)
    if (event.type === 'file' || !isFinalEvent(event)) return frames
    this.#isCompleted = event.type === 'run_end' && event.status === 'completed'
    return frames + done
  }

  broken(error: unknown): string {
    return errorFrame(toAppError(error)) + done
  }

  #frame(piece: Piece): string {
    switch (piece.kind) {
      case 'begin': {
        const { id, model } = this.#options
        const about = JSON.stringify({ id, object: 'chat.completion.chunk', created: piece.created, model })
        this.#head = `data: ${about.slice(0, -1)},"choices":`
        return this.#chunk('{"role":"assistant","content":""}')
      }
      case 'content':
        return this.#chunk(`{"content":${JSON.stringify(piece.text)}}`)
      case 'reasoning':
        return this.#chunk(`{"reasoning_content":${JSON.stringify(piece.text)}}`)
      case 'call': {
        const call = { index: this.#calls++, ...callOf(piece) }
        return this.#chunk(JSON.stringify({ tool_calls: [call] }))
      }
      case 'end': {
        const { includeUsage } = this.#options
        const last = this.#chunk('{}', piece.reason, `,"agentserve":${JSON.stringify(piece.agentserve)}`)
        if (!includeUsage) return last
        return `${last}${this.#head}[],"usage":${JSON.stringify(completionUsage(piece.usage))}}\n\n`
      }
      case 'failed':
        return errorFrame(piece.error)
    }
  }

  #chunk(delta: string, reason?: string, more = ''): string {
    const finish = reason === undefined ? 'null' : `"${reason}"`
    const usage = this.#options.includeUsage ? ',"usage":null' : ''
    return `${this.#head}[{"index":0,"delta":${delta},"finish_reason":${finish},"logprobs":null}]${usage}${more}}\n\n`
  }
}

function errorFrame(error: AppError): string {
  return `data: ${JSON.stringify({ error: openaiErrorOf(error) })}\n\n`
}

function callOf({ id, name, input }: Extract<Piece, { kind: 'call' }>) {
  return { id, type: 'function', function: { name, arguments: input } }
}

/** The stretch as one JSON answer. */
export class CompletionFold {
  readonly #options: CompletionOptions
  readonly #run: CompletionRun
  readonly #calls: ReturnType<typeof callOf>[] = []
  #reasoning = ''
  #created = 0
  #end: Extract<Piece, { kind: 'end' | 'failed' }> | undefined
  #isCompleted = false

  constructor(options: CompletionOptions) {
    this.#options = options
    this.#run = new CompletionRun(options)
  }

  get content(): string {
    return this.#run.content
  }

  get isCompleted(): boolean {
    return this.#isCompleted
  }

  add(event: Parameters<Projection['add']>[0]): void {
    if (event.type === 'run_end') this.#isCompleted = event.status === 'completed'
    for (const piece of this.#run.add(event)) {
      if (piece.kind === 'begin') this.#created = piece.created
      else if (piece.kind === 'reasoning') this.#reasoning += piece.text
      else if (piece.kind === 'call') this.#calls.push(callOf(piece))
      else if (piece.kind === 'end' || piece.kind === 'failed') this.#end = piece
    }
  }

  /** Undefined before the end. Throws why the run has no answer. */
  answer(): JsonObject | undefined {
    const end = this.#end
    if (end === undefined) return undefined
    if (end.kind === 'failed') throw end.error
    const { id, model } = this.#options
    const { content } = this
    const hasCalls = this.#calls.length > 0
    const message: JsonObject = { role: 'assistant', content: hasCalls && content === '' ? null : content }
    if (this.#reasoning !== '') message.reasoning_content = this.#reasoning
    message.refusal = null
    message.annotations = []
    if (hasCalls) message.tool_calls = this.#calls
    return {
      id,
      object: 'chat.completion',
      created: this.#created,
      model,
      choices: [{ index: 0, message, finish_reason: end.reason, logprobs: null }],
      usage: completionUsage(end.usage),
      agentserve: end.agentserve,
    }
  }
}
