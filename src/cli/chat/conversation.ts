import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import type { Cost, EntityKind, Usage } from '../../core/run.ts'
import { describeError } from '../command/exit.ts'
import { type Question, type TurnEnd, type TurnEvent, toQuestion } from '../runs/activity.ts'
import { formatCost } from '../runs/cost.ts'
import { formatSource } from '../runs/source-line.ts'
import { hint } from '../terminal/called-as.ts'
import { formatDuration } from '../terminal/duration.ts'
import { fileAsMarkdown, saidAsMarkdown, saidIn } from '../terminal/message-text.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import { answeredElsewhere } from './answered-elsewhere.ts'
import { type Answered, readAnswer, toAnswer } from './answers.ts'
import { type Attachment, describeAttachment, mentionedFiles, readAttachments } from './attachment.ts'
import { ChatScreen } from './screen.ts'
import { resumeTurn, runTurn } from './turn.ts'

export interface ConversationOptions {
  agentId: string
  kind: EntityKind | undefined
  /** Undefined: a new session. */
  sessionId: string | undefined
  /** For the first message. */
  files?: readonly Attachment[] | undefined
}

/** A run that has paused. */
interface Waiting {
  /** The questions that are not answered yet. */
  left: Question[]
  answered: Answered[]
  end: TurnEnd
  /** Stops looking whether somebody else answers. */
  watch: AbortController
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
  #running: AbortController | undefined
  #waiting: Waiting | undefined

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
    if (this.#waiting !== undefined) return this.#answer(text)
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
    const turn = { agentId, message: text, files, sessionId, follow: true }
    let started = false
    const { client } = this
    await this.#follow(async function* (signal) {
      for await (const event of runTurn(client, { ...turn, signal })) {
        started ||= event.type === 'started'
        yield event
      }
    })
    // What the server has not taken can be sent again.
    if (!started) this.attached = attached
  }

  /** Cancels the active or waiting run; false when there is none. */
  cancel(): boolean {
    if (this.#running !== undefined) {
      this.#running.abort()
      return true
    }
    const runId = this.#waiting?.end.runId
    if (this.#waiting === undefined) return false
    this.#waitNoMore()
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

  leave(): void {
    this.#running?.abort()
    this.#waiting?.watch.abort()
    this.screen.close()
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
      this.screen.end()
      if (running.signal.aborted) this.note('Cancelled.')
      else this.#fail(error)
    }
    const took = Date.now() - since
    // While it is still running, so that what is typed now is no answer to a question that is not shown yet.
    const cost = end === undefined ? null : await this.#costOf(end, running.signal)
    this.#running = undefined
    this.screen.end()
    if (end === undefined) return failure
    this.begun = true
    this.sessionId = end.sessionId ?? this.sessionId
    this.note(summarise(took, end.usage, cost))
    this.#wait(end, questions)
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
    } else if (event.type === 'usage') screen.set({ tokens: screen.get().tokens + event.usage.total_tokens })
    else if (event.type === 'source') {
      this.sources.push(formatSource(event.source))
      this.note(formatSource(event.source))
    } else if (event.type === 'connection') screen.set({ connectionLost: event.lost })
    else screen.say('error', event.message)
  }

  #worked(what: string, durationMs: number, failure: string | undefined): void {
    const mark = failure === undefined ? '✓' : '✗'
    this.note(`${mark} ${what} ${formatDuration(durationMs)}${failure === undefined ? '' : `: ${failure}`}`)
  }

  #wait(end: TurnEnd, questions: Question[]): void {
    if (end.status === 'interrupted' && this.kind === 'workflow') {
      questions = [toQuestion({ kind: 'approval', prompt: 'Continue the run?' })]
    } else if (end.status !== 'input_required') return
    const tools = questions.filter(({ wants }) => wants === 'tool')
    if (tools.length > 0) this.#leaveWaiting(end, tools)
    else {
      const waiting = { left: [...questions], answered: [], end, watch: new AbortController() }
      this.#waiting = waiting
      this.#askNext()
      void this.#watch(waiting)
    }
  }

  #waitNoMore(): void {
    this.#waiting?.watch.abort()
    this.#waiting = undefined
    this.screen.set({ question: undefined })
  }

  /** Shows what comes of an answer that somebody else gives. */
  async #watch(waiting: Waiting): Promise<void> {
    const { end, watch } = waiting
    if (end.runId === undefined) return
    const what = await answeredElsewhere(this.client, end.runId, end.seq, watch.signal)
    if (what === undefined || this.#waiting !== waiting) return
    this.#waitNoMore()
    this.note(`The run was ${what} elsewhere.`)
    await this.#goOn(end)
  }

  async #goOn(end: TurnEnd): Promise<void> {
    const turn = { runId: end.runId ?? '', sessionId: this.sessionId, after: end.seq }
    await this.#follow((signal) => resumeTurn(this.client, { ...turn, signal }))
  }

  /** Only the program that gave the run its client tools can execute them. */
  #leaveWaiting({ runId }: TurnEnd, questions: readonly Question[]): void {
    const names = [...new Set(questions.map(({ tool }) => `'${terminalLine(tool ?? '')}'`))].join(', ')
    const command = hint(`runs show ${terminalLine(runId ?? '')}`)
    this.note(
      `The run waits for the output of ${names}, which this chat can't execute. ${command} says how to send it.`,
    )
  }

  #askNext(): void {
    const question = this.#waiting?.left[0]
    if (question === undefined) return
    this.screen.say('name', question.prompt)
    if (question.about !== undefined) this.note(question.about)
    this.screen.set({ question: question.wants === 'approval' ? 'y or n' : 'answer' })
  }

  async #answer(text: string): Promise<void> {
    const waiting = this.#waiting
    const question = waiting?.left[0]
    if (waiting === undefined || question === undefined) return
    const answer = readAnswer(text, question)
    if (answer === undefined) {
      this.note('y for yes, n for no; text after the n is the reason.')
      return
    }
    this.screen.say('user', terminalText(text))
    waiting.left.shift()
    waiting.answered.push({ question, answer })
    if (waiting.left.length > 0) return this.#askNext()
    this.#waitNoMore()
    const { end, answered } = waiting
    if (end.status === 'interrupted' && !answer.approved) return
    const turn = { runId: end.runId ?? '', sessionId: this.sessionId, after: end.seq, answer: toAnswer(answered) }
    const failure = await this.#follow((signal) => resumeTurn(this.client, { ...turn, signal }))
    if (!isAppError(failure)) return
    // The server takes no answer that does not fit, and the run waits on.
    if (failure.code === 'invalid_request')
      this.#wait(
        end,
        answered.map(({ question }) => question),
      )
    // Somebody else was quicker.
    else if (failure.code === 'conflict') await this.#goOn(end)
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
