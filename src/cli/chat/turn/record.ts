import type { Client } from '../../../client/client.ts'
import { isFinalEvent, type RunEvent } from '../../../core/event.ts'
import { addToParts, filePartOf, type Part } from '../../../core/message.ts'
import type { RunStatus, Usage } from '../../../core/run.ts'
import { showEvent, type TurnEvent } from '../../runs/activity.ts'
import type { ShownFile } from '../../terminal/message-text.ts'
import { terminalLine } from '../../terminal/text.ts'

/** How much of an answer is searched for its citations. */
export const searchedChars = 1024 * 1024

interface Reading {
  /** Whether text is shown from the record; otherwise it comes over A2A and is only counted. */
  takesText: boolean
  onLife?: () => unknown
}

/** Merges a run's record with the text that A2A streams: events recorded after a text wait for that text. */
export class RunReader {
  runId: string | undefined
  hasEnded = false
  readonly signal: AbortSignal
  /** The start of the recorded answer. */
  readonly parts: Part[] = []
  readonly #client: Client
  readonly #push: (event: TurnEvent) => Promise<void> | undefined
  #sessionId: string | undefined
  #after = 0
  #shownChars = 0
  #shownSeq = 0
  #failure: string | undefined
  #status: RunStatus | undefined
  #usage: Usage | null = null
  #textHasEnded = false
  #behind: { chars: number; go: () => void } | undefined
  #stop = new AbortController()

  constructor(client: Client, push: (event: TurnEvent) => Promise<void> | undefined, signal: AbortSignal) {
    this.#client = client
    this.#push = push
    this.signal = signal
  }

  begin(runId: string | undefined, sessionId: string | undefined, after: number): void {
    this.runId = runId
    this.#sessionId = sessionId
    this.#after = after
    this.#shownSeq = after
    void this.#push({ type: 'started', runId })
  }

  say(event: TurnEvent): Promise<void> | undefined {
    return this.#push(event)
  }

  /** `file`: the text is the JSON of this file. */
  text(text: string, file?: ShownFile): Promise<void> | undefined {
    this.#shownChars += text.length
    if (this.#behind !== undefined && this.#shownChars >= this.#behind.chars) this.#behind.go()
    return this.#push(file === undefined ? { type: 'text', text } : { type: 'file', file })
  }

  /** The A2A text has ended; `whole` is false when it was cut. */
  textEnded(whole: boolean): void {
    this.#textHasEnded = true
    if (!whole) this.#stop.abort()
    this.#behind?.go()
  }

  /** Reads from the start, skipping shown text. Resolves at the end or pause; rejects on a cut connection. */
  async read({ takesText, onLife }: Reading): Promise<void> {
    if (this.runId === undefined) return
    const signal = takesText ? this.signal : AbortSignal.any([this.signal, this.#stop.signal])
    let chars = 0
    for await (const event of await this.#client.runs.events(this.runId, { after: this.#after, signal })) {
      await onLife?.()
      onLife = undefined
      const text = textOf(event)
      if (text === undefined) {
        if (!takesText) await this.#reached(chars)
        if (signal.aborted) return
        if (event.seq > this.#shownSeq) await this.#show(event)
        continue
      }
      if (chars < searchedChars) addToParts(this.parts, event)
      chars += text.length
      if (!takesText || chars <= this.#shownChars) continue
      const rest = text.slice(text.length - (chars - this.#shownChars))
      await this.text(rest, event.type === 'file' ? event : undefined)
    }
  }

  async finish(failure: string | undefined): Promise<void> {
    const pauses = this.#status === 'input_required'
    const message = this.#failure ?? failure
    if (message !== undefined && !pauses) await this.#push({ type: 'error', message })
    const [sessionId, runId, status, usage] = [this.#sessionId, this.runId, this.#status, this.#usage]
    await this.#push({ type: 'end', end: { sessionId, runId, status, usage, seq: this.#shownSeq } })
  }

  async #show(event: RunEvent): Promise<void> {
    this.#shownSeq = event.seq
    if (event.type === 'source') return this.#push({ type: 'source', source: event })
    if (isFinalEvent(event)) {
      this.hasEnded = true
      this.#status = event.type === 'run_end' ? event.status : 'failed'
      if (event.type === 'run_end') {
        this.#usage = event.usage
        this.#failure = explain(event.status, event.cancellation_reason)
      } else this.#failure = terminalLine(event.error.message)
      return
    }
    const shown = showEvent(event)
    if (shown !== undefined) await this.#push(shown)
  }

  async #reached(chars: number): Promise<void> {
    if (this.#textHasEnded || this.#shownChars >= chars) return
    await new Promise<void>((go) => {
      this.#behind = { chars, go }
    })
    this.#behind = undefined
  }
}

/** As A2A streams it. */
function textOf(event: RunEvent): string | undefined {
  if (event.type === 'text_delta') return event.text
  if (event.type === 'file') return JSON.stringify(filePartOf(event))
  return event.type === 'data' ? JSON.stringify(event.data) : undefined
}

function explain(status: RunStatus, reason: string | undefined): string | undefined {
  if (status === 'interrupted') return 'The run was interrupted because the server stopped while it was running.'
  if (status === 'cancelled') return `The run was cancelled${reason === undefined ? '' : `: ${terminalLine(reason)}`}.`
  return undefined
}
