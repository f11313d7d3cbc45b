import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { EntityKind } from '../../core/run.ts'
import { describeError } from '../command/exit.ts'
import type { Question, TurnEnd, TurnEvent } from '../runs/activity.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import { InputHistory } from './line/history.ts'
import { isThere, showPast } from './past.ts'
import { ChatScreen } from './screen.ts'
import { StartForm } from './start-form.ts'
import { AllowedTools } from './turn/allowed-tools.ts'
import { type Attachment, describeAttachment, mentionedFiles, readAttachments } from './turn/attachment.ts'
import { readDetails, type TurnDetails } from './turn/details.ts'
import { type ResumedTurn, resumeTurn, runTurn, type Turn } from './turn/turn.ts'
import { costOf, summarise, TurnView } from './turn-view.ts'
import { Waiting } from './waiting.ts'

export interface ConversationOptions {
  agentId: string
  kind: EntityKind | undefined
  /** Undefined: a new session. */
  sessionId: string | undefined
  /** For the first message. */
  files?: readonly Attachment[] | undefined
  history?: InputHistory | undefined
}

export class Conversation {
  readonly screen = new ChatScreen()
  readonly client: Client
  agentId: string
  kind: EntityKind | undefined
  sessionId: string
  /** Whether the session exists, as far as the client knows. */
  begun: boolean
  /** For the next message. */
  attached: readonly Attachment[] = []
  readonly history: InputHistory
  readonly allowed = new AllowedTools()
  /** The last run that has ended or paused, as far as it is known. */
  lastRunId: string | undefined
  /** Called when a run has ended or paused. */
  onRest: (() => void) | undefined
  /** Clears the terminal. */
  onClear: (() => void) | undefined
  #view = new TurnView(this.screen)
  #running: AbortController | undefined
  readonly #form = new StartForm(this.screen)
  readonly #waiting = new Waiting(this)
  /** The last message, while it may be sent again because the server stopped during its run. */
  #interrupted: { text: string; attached: readonly Attachment[] } | undefined

  constructor(client: Client, { agentId, kind, sessionId, files = [], history }: ConversationOptions) {
    this.client = client
    this.agentId = agentId
    this.kind = kind
    this.sessionId = sessionId ?? createId('ses')
    this.begun = sessionId !== undefined
    this.attached = files
    this.history = history ?? new InputHistory()
  }

  get busy(): boolean {
    return this.#running !== undefined
  }

  readonly note = (text: string): void => this.screen.say('note', text)

  /** Another session has another last turn. */
  forgetTurn(): void {
    this.lastRunId = undefined
    this.#view = new TurnView(this.screen)
  }

  /** Sends a message, or answers what is asked. False: what is queued must wait until the person goes on. */
  async send(text: string): Promise<boolean> {
    if (this.#waiting.isActive) {
      await this.#waiting.answer(text)
      return true
    }
    const sent = this.#interrupted
    this.#interrupted = undefined
    if (sent !== undefined && /^no?$/i.test(text)) return true
    if (sent !== undefined && /^y(?:es)?$/i.test(text)) {
      this.attached = sent.attached
      return this.send(sent.text)
    }
    if (this.#form.isNeeded) {
      const input = this.#form.read(text)
      return input === undefined || this.#start({ message: '', data: input.value })
    }
    let files: readonly Attachment[]
    try {
      files = [...this.attached, ...(await readAttachments(await mentionedFiles(text)))]
    } catch (error) {
      this.screen.say('user', terminalText(text))
      this.#fail(error)
      return true
    }
    const said = [text, ...files.map(describeAttachment)].join('\n')
    this.screen.say('user', terminalText(said).replaceAll('\t', '    '))
    return this.#start({ message: text, files })
  }

  /** Opens the form of a workflow; false without one. */
  openForm(): boolean {
    return !this.busy && !this.#waiting.isActive && this.#form.open()
  }

  /** To the field of a form before. */
  back(): void {
    if (this.#form.isOpen) this.#form.back()
    else this.#waiting.back()
  }

  async #start(input: Pick<Turn, 'message' | 'data' | 'files'>): Promise<boolean> {
    const { agentId, sessionId, attached, client } = this
    this.screen.say('name', terminalLine(agentId))
    this.attached = []
    this.#view = new TurnView(this.screen)
    let started = false
    let interrupted = false
    const failure = await this.#follow(async function* (signal) {
      for await (const event of runTurn(client, { agentId, sessionId, ...input, follow: true, signal })) {
        started ||= event.type === 'started'
        interrupted = event.type === 'end' && event.end.status === 'interrupted'
        yield event
      }
    })
    // What the server has not taken can be sent again.
    if (!started) this.attached = attached
    if (interrupted && this.kind !== 'workflow') {
      this.#interrupted = { text: input.message, attached }
      this.note('Send it again? y sends it; anything else is a new message.')
      return false
    }
    return started || !isAppError(failure) || failure.code !== 'unavailable'
  }

  /** Shows a run that has begun elsewhere, from its beginning. */
  async show(name: string, { runId, sessionId }: { runId: string; sessionId: string }): Promise<void> {
    this.screen.say('name', terminalLine(name))
    this.#view = new TurnView(this.screen)
    await this.resume({ sessionId, runId, status: undefined, usage: null, seq: 0 })
  }

  /** Cancels the active or waiting run, or a form; false when there is none. */
  cancel(): boolean {
    if (this.#running !== undefined) {
      this.#running.abort()
      return true
    }
    if (this.#form.isOpen) {
      this.#form.close()
      return true
    }
    if (!this.#waiting.isActive) return false
    const runId = this.#waiting.stop()
    if (runId !== undefined) void this.client.runs.cancel(runId).catch((error) => this.#fail(error))
    this.note('Cancelled.')
    return true
  }

  /** Learns what the agent takes, and says it. */
  async meet(signal?: AbortSignal): Promise<void> {
    await this.#form.meet(this.client, this.agentId, this.kind, signal)
  }

  /** As `showHistory`, but a new session or a server without history is not an error. */
  async open(signal: AbortSignal): Promise<void> {
    this.begun = await isThere(this.showHistory(signal))
  }

  async showHistory(signal?: AbortSignal): Promise<void> {
    this.lastRunId = await showPast(this, signal)
  }

  /** What the last turn keeps folded, from its record if it was before this chat. Null: there is nothing. */
  async openDetails(): Promise<TurnDetails | null> {
    if (this.#view.details.isEmpty && !this.busy && this.lastRunId !== undefined)
      this.#view = new TurnView(this.screen, await readDetails(this.client, this.lastRunId))
    const { details } = this.#view
    return details.isEmpty ? null : details
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
        else if (event.type === 'started') this.begun = true
        else await this.#view.show(event)
      }
    } catch (error) {
      failure = error
      this.#view.fold()
      this.screen.end()
      if (running.signal.aborted) this.note('Cancelled.')
      else this.#fail(error)
    }
    const took = Date.now() - since
    // While it is still running, so that what is typed now is no answer to a question that is not shown yet.
    const cost = end === undefined ? null : await costOf(this.client, end, running.signal)
    this.#running = undefined
    this.#view.fold()
    this.screen.end()
    if (end === undefined) {
      this.onRest?.()
      return failure
    }
    this.begun = true
    this.lastRunId = end.runId
    this.sessionId = end.sessionId ?? this.sessionId
    this.note(summarise(took, end.usage, cost))
    await this.#waiting.begin(end, questions)
    this.onRest?.()
    return failure
  }

  #fail(error: unknown): void {
    this.screen.say('error', describeError(error))
  }
}
