import { isFinalEvent, type RunEvent, type SourceEvent } from '../../core/event.ts'
import { BlockSplitter } from '../../core/markdown/blocks.ts'
import { addToParts, type Part } from '../../core/message.ts'
import { addUsage, type RunStatus, type Usage } from '../../core/run.ts'
import { citedFirst, markCited } from '../../core/text/citations.ts'
import type { Entry } from '../chat/screen-state.ts'
import { showEvent } from '../runs/activity.ts'
import { between } from '../runs/line.ts'
import { formatSource, unlisted } from '../runs/source-line.ts'
import { formatDuration } from '../terminal/duration.ts'
import { fencedJson, saidAsMarkdown } from '../terminal/message-text.ts'
import { createTerminalFilter, terminalLine, terminalText } from '../terminal/text.ts'
import { localTime } from '../terminal/when.ts'

export type TranscriptEntry = Omit<Entry, 'id'>

/** Per answer; the record has all of it. */
const maxChars = 1_000_000
const maxNotes = 1_000

/** One run as a person reads it: input, answer with tools and steps in place, and how it ended. Memory is bounded. */
export class Transcript {
  seq = 0
  /** Undefined while the run is active. */
  status: RunStatus | undefined
  readonly #closed: TranscriptEntry[] = []
  #open: TranscriptEntry | undefined
  #splitter = new BlockSplitter()
  readonly #clean = createTerminalFilter()
  readonly #working = new Map<string, number>()
  readonly #sources: SourceEvent[] = []
  readonly #parts: Part[] = []
  #startedAt: string | undefined
  #chars = 0
  #leftOutChars = 0
  #notes = 0
  #leftOutNotes = 0
  #usage: Usage | null = null

  constructor(asked: string, agentId: string) {
    if (asked !== '') this.#add('user', clip(terminalText(clip(asked, maxChars)).replaceAll('\t', '    '), maxChars))
    this.#add('name', terminalLine(agentId))
  }

  get length(): number {
    return this.#closed.length + (this.#open === undefined ? 0 : 1)
  }

  entry(place: number): TranscriptEntry | undefined {
    return place < this.#closed.length ? this.#closed[place] : this.#open
  }

  add(event: RunEvent): void {
    this.seq = event.seq
    if (this.#chars < maxChars) addToParts(this.#parts, event)
    if (event.type === 'run_start') this.#startedAt = event.at
    else if (event.type === 'run_resumed') this.status = undefined
    else if (event.type === 'text_delta') this.#text(event.text)
    else if (event.type === 'data') this.#text(`\n${fencedJson(event.data)}\n`)
    else if (event.type === 'file') this.#text(`\n\n${saidAsMarkdown([event])}\n\n`)
    else if (event.type === 'source') this.#sources.push(...(this.#sources.length < maxNotes ? [event] : []))
    else if (isFinalEvent(event)) this.#end(event)
    else this.#happened(event)
  }

  /** The run can't be read; no more events come. */
  fail(message: string): void {
    this.#closeText()
    this.#add('error', message)
    this.status = 'failed'
  }

  #text(text: string): void {
    const shown = this.#clean(text).replaceAll('\t', '    ')
    const room = Math.max(0, maxChars - this.#chars)
    this.#chars += Math.min(room, shown.length)
    this.#leftOutChars += Math.max(0, shown.length - room)
    if (room === 0) return
    for (const block of this.#splitter.push(clip(shown, room))) this.#closed.push({ kind: 'markdown', ...block })
    const { text: open, joined } = this.#splitter.open
    this.#open = open.trim() === '' ? undefined : { kind: 'markdown', text: open, joined }
  }

  #closeText(): void {
    for (const block of this.#splitter.end()) this.#closed.push({ kind: 'markdown', ...block })
    this.#open = undefined
  }

  #happened(event: RunEvent): void {
    const shown = showEvent(event)
    if (shown?.type === 'usage') this.#usage = addUsage(this.#usage, shown.usage)
    else if (shown?.type === 'tool_call') this.#begin(shown.callId, `${shown.name} ${shown.input}`)
    else if (shown?.type === 'step_start') this.#begin(shown.stepId, shown.name)
    else if (shown?.type === 'tool_result') this.#finish(shown.callId, shown.name, shown.durationMs, shown.error)
    else if (shown?.type === 'step_end') {
      const failure = shown.error ?? (shown.status === 'completed' ? undefined : shown.status)
      this.#finish(shown.stepId, 'step', shown.durationMs, failure)
    } else if (shown?.type === 'question') {
      this.#closeText()
      this.#add('name', shown.question.prompt)
      if (shown.question.about !== undefined) this.#note(shown.question.about)
    }
  }

  #begin(id: string, what: string): void {
    this.#closeText()
    if (this.#note(`… ${what}`)) this.#working.set(id, this.#closed.length - 1)
  }

  #finish(id: string, name: string, durationMs: number, failure: string | undefined): void {
    const place = this.#working.get(id)
    this.#working.delete(id)
    const what = place === undefined ? name : (this.#closed[place]?.text.slice(2) ?? name)
    const text = `${failure === undefined ? '✓' : '✗'} ${what} ${formatDuration(durationMs)}${failure === undefined ? '' : `: ${failure}`}`
    if (place !== undefined) this.#closed[place] = { kind: 'note', text, joined: false }
    else {
      this.#closeText()
      this.#note(text)
    }
  }

  #end(event: Extract<RunEvent, { type: 'run_end' | 'run_error' }>): void {
    this.#closeText()
    if (this.#leftOutChars > 0) {
      this.#add('note', `${this.#leftOutChars} more characters are recorded but not shown.`)
    }
    if (this.#leftOutNotes > 0) this.#add('note', `${this.#leftOutNotes} more tools and steps are not shown.`)
    const answer = this.#closed.map(({ kind, text }) => (kind === 'markdown' ? text : '')).join('')
    const sources = citedFirst(markCited(this.#sources, this.#parts))
    for (const source of unlisted(sources, answer)) this.#add('note', formatSource(source))
    this.#sources.length = 0
    this.#parts.length = 0
    this.status = event.type === 'run_end' ? event.status : 'failed'
    if (event.type === 'run_error') this.#add('error', terminalLine(event.error.message))
    const reason = event.type === 'run_end' ? event.cancellation_reason : undefined
    const usage = event.type === 'run_end' ? (event.usage ?? this.#usage) : this.#usage
    const about = [
      localTime(this.#startedAt ?? event.at),
      this.status === 'input_required' ? 'is waiting for an answer' : this.status,
      ...(reason === undefined ? [] : [terminalLine(reason)]),
      formatDuration(between(this.#startedAt ?? event.at, event.at)),
      ...(usage === null ? [] : [`${usage.input_tokens} tokens in, ${usage.output_tokens} out`]),
    ]
    this.#add('note', about.join(' · '))
  }

  /** False at the limit. */
  #note(text: string): boolean {
    if (this.#notes >= maxNotes) {
      this.#leftOutNotes++
      return false
    }
    this.#notes++
    this.#add('note', text)
    return true
  }

  #add(kind: Entry['kind'], text: string): void {
    this.#closed.push({ kind, text, joined: false })
  }
}

/** The start of a text, copied so that the whole can be freed. */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : Buffer.from(text.slice(0, most)).toString()
}
