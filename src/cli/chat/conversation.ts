import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import { type Cost, type EntityKind, isEnded, type Usage } from '../../core/run.ts'
import { describeError } from '../command/exit.ts'
import type { Question, TurnEnd, TurnEvent } from '../runs/activity.ts'
import { formatCost } from '../runs/cost.ts'
import { formatSource } from '../runs/source-line.ts'
import { formatDuration } from '../terminal/duration.ts'
import { fileAsMarkdown, saidAsMarkdown, saidIn } from '../terminal/message-text.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import { ChatScreen } from './screen.ts'
import { type Attachment, describeAttachment, mentionedFiles, readAttachments } from './turn/attachment.ts'
import { readDetails, TurnDetails } from './turn/details.ts'
import { type ResumedTurn, resumeTurn, runTurn } from './turn/turn.ts'
import { Waiting } from './waiting.ts'

export interface ConversationOptions {
  agentId: string
  kind: EntityKind | undefined
  /** Undefined: a new session. */
  sessionId: string | undefined
  /** For the first message. */
  files?: readonly Attachment[] | undefined
}

const shownInteractions = 20

export class Conversation {
  readonly screen = new ChatScreen()
  readonly client: Client
  agentId: string
  kind: EntityKind | undefined
  sessionId: string
  /** Whether the session exists, as far as the client knows. */
  begun: boolean
  sources: string[] = []
  /** For the next message. */
  attached: readonly Attachment[] = []
  /** Input history, newest last. */
  readonly typed: string[] = []
  /** Of the turn that is under way, or else the last one. */
  details = new TurnDetails()
  /** The last run that has ended or paused, as far as it is known. */
  lastRunId: string | undefined
  #running: AbortController | undefined
  readonly #waiting = new Waiting(this)
  /** The last message, while it may be sent again because the server stopped during its run. */
  #interrupted: { text: string; attached: readonly Attachment[] } | undefined

  constructor(client: Client, { agentId, kind, sessionId, files = [] }: ConversationOptions) {
    this.client = client
    this.agentId = agentId
    this.kind = kind
    this.sessionId = sessionId ?? createId('ses')
    this.begun = sessionId !== undefined
    this.attached = files
  }

  get busy(): boolean {
    return this.#running !== undefined
  }

  note(text: string): void {
    this.screen.say('note', text)
  }

  async send(text: string): Promise<void> {
    if (this.#waiting.isActive) return this.#waiting.answer(text)
    const sent = this.#interrupted
    this.#interrupted = undefined
    if (sent !== undefined && /^no?$/i.test(text.trim())) return
    if (sent !== undefined && /^y(?:es)?$/i.test(text.trim())) {
      this.attached = sent.attached
      return this.send(sent.text)
    }
    const { agentId, sessionId, attached } = this
    let files: readonly Attachment[]
    try {
      files = [...attached, ...(await readAttachments(await mentionedFiles(text)))]
    } catch (error) {
      this.screen.say('user', terminalText(text))
      return this.#fail(error)
    }
    const said = [text, ...files.map(describeAttachment)].join('\n')
    this.screen.say('user', terminalText(said).replaceAll('\t', '    '))
    this.screen.say('name', terminalLine(agentId))
    this.sources = []
    this.attached = []
    this.details = new TurnDetails()
    const turn = { agentId, message: text, files, sessionId, follow: true }
    let started = false
    let interrupted = false
    const { client } = this
    await this.#follow(async function* (signal) {
      for await (const event of runTurn(client, { ...turn, signal })) {
        started ||= event.type === 'started'
        interrupted = event.type === 'end' && event.end.status === 'interrupted'
        yield event
      }
    })
    // What the server has not taken can be sent again.
    if (!started) this.attached = attached
    if (interrupted && this.kind !== 'workflow') {
      this.#interrupted = { text, attached }
      this.note('Send it again? y sends it; anything else is a new message.')
    }
  }

  /** Cancels the active or waiting run; false when there is none. */
  cancel(): boolean {
    if (this.#running !== undefined) {
      this.#running.abort()
      return true
    }
    if (!this.#waiting.isActive) return false
    const runId = this.#waiting.stop()
    if (runId !== undefined) void this.client.runs.cancel(runId).catch((error) => this.#fail(error))
    this.note('Cancelled.')
    return true
  }

  /** As `showHistory`, but a new session or a server without history is not an error. */
  async open(signal: AbortSignal): Promise<void> {
    try {
      await this.showHistory(signal)
    } catch (error) {
      if (!isAppError(error) || !/^(session|route)_not_found$/.test(error.code)) throw error
      this.begun = false
    }
  }

  async showHistory(signal?: AbortSignal): Promise<void> {
    const history = await this.client.sessions.history(this.sessionId, { interactions: shownInteractions, signal })
    this.lastRunId = history.runs.findLast(({ status }) => isEnded(status))?.run_id
    if (history.has_more) this.note('There are earlier messages. /save writes all of them to a file.')
    for (const { role, content, parts, run_id } of history.messages) {
      const said = role === 'user' ? saidIn(parts) : saidAsMarkdown(parts)
      const text = terminalText(said).replaceAll('\t', '    ')
      if (role === 'user') {
        if (content !== '') this.typed.push(terminalText(content).replaceAll('\t', '    '))
        this.screen.say('user', text)
        continue
      }
      const run = history.runs.find((one) => one.run_id === run_id)
      this.screen.say('name', terminalLine(run?.entity_id ?? this.agentId))
      this.screen.begin(0)
      await this.screen.text(text)
      this.screen.end()
      if (run !== undefined && run.status !== 'completed') this.note(`The run is ${run.status}.`)
    }
  }

  /** What the last turn keeps folded, from its record if it was before this chat. Null: there is nothing. */
  async openDetails(): Promise<TurnDetails | null> {
    if (this.details.isEmpty && !this.busy && this.lastRunId !== undefined)
      this.details = await readDetails(this.client, this.lastRunId)
    return this.details.isEmpty ? null : this.details
  }

  leave(): void {
    this.#running?.abort()
    this.#waiting.stop()
    this.screen.close()
  }

  /** Goes on with a paused run. Without an answer, somebody else has given one. Resolves with the error that was shown, if any. */
  async resume({ runId = '', seq }: TurnEnd, answer?: ResumedTurn['answer']): Promise<unknown> {
    const turn = { runId, sessionId: this.sessionId, after: seq, answer }
    return this.#follow((signal) => resumeTurn(this.client, { ...turn, signal }))
  }

  /** Resolves with the error that was shown, if any. */
  async #follow(start: (signal: AbortSignal) => AsyncIterable<TurnEvent>): Promise<unknown> {
    const running = new AbortController()
    this.#running = running
    const since = Date.now()
    this.screen.begin(since)
    const questions: Question[] = []
    let end: TurnEnd | undefined
    let failure: unknown
    try {
      for await (const event of start(running.signal)) {
        if (event.type === 'question') questions.push(event.question)
        else if (event.type === 'end') end = event.end
        else await this.#show(event)
      }
    } catch (error) {
      failure = error
      this.#fold()
      this.screen.end()
      if (running.signal.aborted) this.note('Cancelled.')
      else this.#fail(error)
    }
    const took = Date.now() - since
    // While it is still running, so that what is typed now is no answer to a question that is not shown yet.
    const cost = end === undefined ? null : await this.#costOf(end, running.signal)
    this.#running = undefined
    this.#fold()
    this.screen.end()
    if (end === undefined) return failure
    this.begun = true
    this.lastRunId = end.runId
    this.sessionId = end.sessionId ?? this.sessionId
    this.note(summarise(took, end.usage, cost))
    this.#waiting.begin(end, questions)
    return failure
  }

  /** Null without a record that can be read. */
  async #costOf({ runId, usage }: TurnEnd, signal: AbortSignal): Promise<Cost | null> {
    if (usage === null || runId === undefined) return null
    return this.client.runs.get(runId, { signal }).then(
      ({ cost }) => cost,
      () => null,
    )
  }

  async #show(event: Exclude<TurnEvent, { type: 'question' | 'end' }>): Promise<void> {
    const { screen } = this
    if (event.type === 'reasoning') {
      this.details.take(event, Date.now())
      return screen.reason(event.text)
    }
    if (event.type !== 'connection' && (event.type !== 'text' || event.text !== '')) this.#fold()
    this.details.take(event, Date.now())
    if (event.type === 'text') await screen.text(event.text)
    else if (event.type === 'file') await screen.text(`\n\n${fileAsMarkdown(event.file)}\n\n`)
    else if (event.type === 'started') this.begun = true
    else if (event.type === 'tool_call') screen.startWork(event.callId, `${event.name} ${event.input}`)
    else if (event.type === 'tool_progress') screen.tellProgress(event.callId, event.output)
    else if (event.type === 'step_start') screen.startWork(event.stepId, event.name)
    else if (event.type === 'tool_result') {
      this.#worked(screen.endWork(event.callId) ?? event.name, event.durationMs, event.error)
    } else if (event.type === 'step_end') {
      const failure = event.error ?? (event.status === 'completed' ? undefined : event.status)
      this.#worked(screen.endWork(event.stepId) ?? 'step', event.durationMs, failure)
    } else if (event.type === 'model_call') screen.startCall(event.model)
    else if (event.type === 'usage') screen.endCall(event.usage.output_tokens)
    else if (event.type === 'source') {
      this.sources.push(formatSource(event.source))
      this.note(formatSource(event.source))
    } else if (event.type === 'connection') screen.set({ connectionLost: event.lost })
    else if (event.type === 'error') screen.say('error', event.message)
  }

  /** The reasoning has ended: it takes one line. */
  #fold(): void {
    const took = this.details.endReasoning(Date.now())
    if (took !== undefined) this.note(`Thought for ${formatDuration(took)} · Ctrl-O shows it`)
  }

  #worked(what: string, durationMs: number, failure: string | undefined): void {
    const mark = failure === undefined ? '✓' : '✗'
    this.note(`${mark} ${what} ${formatDuration(durationMs)}${failure === undefined ? '' : `: ${failure}`}`)
  }

  #fail(error: unknown): void {
    this.screen.say('error', describeError(error))
  }
}

function summarise(durationMs: number, usage: Usage | null, cost: Cost | null): string {
  const tokens =
    usage === null ? '' : ` · ${usage.input_tokens} tokens in, ${usage.output_tokens} out · ${formatCost(cost)}`
  return `${formatDuration(durationMs)}${tokens}`
}
