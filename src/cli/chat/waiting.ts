import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import type { EntityKind } from '../../core/run.ts'
import { type Question, type TurnEnd, toQuestion } from '../runs/activity.ts'
import { hint } from '../terminal/called-as.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import { Asking } from './form/asking.ts'
import type { ChatScreen } from './screen.ts'
import type { AllowedTools, ToolPlace } from './turn/allowed-tools.ts'
import { answeredElsewhere } from './turn/answered-elsewhere.ts'
import { type Answered, readAnswer, toAnswer } from './turn/answers.ts'
import type { CallAnswer, ResumedTurn } from './turn/turn.ts'

/** The conversation, as far as its paused runs need it. */
export interface Asker {
  readonly client: Client
  readonly screen: ChatScreen
  readonly agentId: string
  readonly sessionId: string
  readonly kind: EntityKind | undefined
  readonly allowed: AllowedTools
  /** Resolves with the error that was shown, if any. */
  resume(end: TurnEnd, answer?: ResumedTurn['answer']): Promise<unknown>
  note(text: string): void
}

/** A run that has paused. */
interface Paused {
  /** The questions that are not answered yet. */
  left: Question[]
  answered: Answered[]
  end: TurnEnd
  /** Stops looking whether somebody else answers. */
  watch: AbortController
  /** Of the first question that is left, if it has a schema. */
  form?: Asking | undefined
}

const decisions = 'y for yes, n for no; text after the n is the reason.'

/** Asks what a paused run waits for, one question after the other, and resumes the run with all answers. */
export class Waiting {
  readonly #asker: Asker
  #paused: Paused | undefined

  constructor(asker: Asker) {
    this.#asker = asker
  }

  get isActive(): boolean {
    return this.#paused !== undefined
  }

  /** Tools that are always allowed here are allowed without a question. */
  async begin(end: TurnEnd, questions: readonly Question[]): Promise<void> {
    if (end.status === 'interrupted' && this.#asker.kind === 'workflow') {
      questions = [toQuestion({ kind: 'approval', prompt: 'Continue the run?' })]
    } else if (end.status !== 'input_required') return
    const tools = questions.filter(({ wants }) => wants === 'tool')
    if (tools.length > 0) {
      this.#leave(end, tools)
      return
    }
    const paused: Paused = { left: [], answered: [], end, watch: new AbortController() }
    this.#paused = paused
    for (const question of questions) {
      if (await this.#isAllowed(question)) paused.answered.push({ question, answer: { approved: true } })
      else paused.left.push(question)
    }
    if (this.#paused !== paused) return
    if (paused.left.length === 0) return this.#send(paused)
    this.#askNext()
    void this.#watch(paused)
  }

  async answer(text: string): Promise<void> {
    const paused = this.#paused
    const question = paused?.left[0]
    if (paused === undefined || question === undefined) return
    const answer = await this.#read(paused, question, text)
    if (answer === undefined || !this.#isOpen(paused, question)) return
    paused.left.shift()
    paused.answered.push({ question, answer })
    let next = paused.left[0]
    // What has just been allowed always is not asked again.
    while (next !== undefined && (await this.#isAllowed(next))) {
      if (!this.#isOpen(paused, next)) return
      paused.left.shift()
      paused.answered.push({ question: next, answer: { approved: true } })
      next = paused.left[0]
    }
    if (!this.#isOpen(paused, next)) return
    if (next !== undefined) this.#askNext()
    else await this.#send(paused)
  }

  /** Nothing has answered it meanwhile. */
  #isOpen(paused: Paused, question: Question | undefined): boolean {
    return this.#paused === paused && paused.left[0] === question
  }

  /** To the field before, in a form. */
  back(): void {
    if (this.#paused?.form?.back() === false) this.#asker.note('This is the first question.')
  }

  /** Asks no more; gives the id of the run. */
  stop(): string | undefined {
    const runId = this.#paused?.end.runId
    this.#paused?.watch.abort()
    this.#paused = undefined
    this.#asker.screen.set({ question: undefined })
    return runId
  }

  /** Undefined for a text that is no answer, or only a part of it. */
  async #read({ form }: Paused, question: Question, text: string): Promise<CallAnswer | undefined> {
    const { screen } = this.#asker
    if (form !== undefined) {
      const filled = form.answer(text)
      return filled === undefined ? undefined : { input: filled.value }
    }
    screen.say('user', terminalText(text))
    if (question.wants === 'approval' && question.tool !== undefined && /^a(?:lways)?$/i.test(text)) {
      const place = await this.#placeOf(question)
      if (place === undefined || !(await this.#allow(place))) return undefined
      return { approved: true }
    }
    const answer = readAnswer(text, question)
    if (answer === undefined) screen.say('note', decisions)
    return answer
  }

  async #allow(place: ToolPlace): Promise<boolean> {
    const { allowed, client } = this.#asker
    const name = terminalLine(place.tool)
    const isAllowed = await allowed.allow(client, place).catch(() => false)
    this.#asker.note(
      isAllowed
        ? `${name} is always allowed in this session, unless it changes. /always shows what is.`
        : `${name} can't be allowed for the session: the server does not tell what it is. Answer y or n.`,
    )
    return isAllowed
  }

  async #isAllowed(question: Question): Promise<boolean> {
    if (question.wants !== 'approval' || question.tool === undefined) return false
    const { allowed, client, sessionId } = this.#asker
    if (allowed.names(sessionId).length === 0) return false
    const place = await this.#placeOf(question)
    const outcome = place === undefined ? undefined : await allowed.look(client, place)
    const name = terminalLine(question.tool)
    if (outcome === 'changed') this.#asker.note(`${name} has changed since it was always allowed, so it asks again.`)
    if (outcome !== 'allowed') return false
    this.#asker.note(`${name} ${question.about ?? ''} allowed: it always is in this session.`.replace('  ', ' '))
    return true
  }

  /** The tool of a team member belongs to the agent of the member's run. */
  async #placeOf({ tool = '', request }: Question): Promise<ToolPlace | undefined> {
    const { client, sessionId, agentId } = this.#asker
    const { child_run_id: child } = request
    if (child === undefined) return { sessionId, agentId, tool }
    const run = await client.runs.get(child).catch(() => undefined)
    return run === undefined ? undefined : { sessionId, agentId: run.entity_id, tool }
  }

  async #send({ end, answered }: Paused): Promise<void> {
    this.stop()
    if (end.status === 'interrupted' && answered[0]?.answer.approved !== true) return
    const failure = await this.#asker.resume(end, toAnswer(answered))
    if (!isAppError(failure)) return
    // The server takes no answer that does not fit, and the run waits on.
    if (failure.code === 'invalid_request')
      await this.begin(
        end,
        answered.map(({ question }) => question),
      )
    // Somebody else was quicker.
    else if (failure.code === 'conflict') await this.#asker.resume(end)
  }

  /** Shows what comes of an answer that somebody else gives. */
  async #watch(paused: Paused): Promise<void> {
    const { end, watch } = paused
    if (end.runId === undefined) return
    const what = await answeredElsewhere(this.#asker.client, end.runId, end.seq, watch.signal)
    if (what === undefined || this.#paused !== paused) return
    this.stop()
    this.#asker.note(`The run was ${what} elsewhere.`)
    await this.#asker.resume(end)
  }

  /** Only the program that gave the run its client tools can execute them. */
  #leave({ runId }: TurnEnd, questions: readonly Question[]): void {
    const names = [...new Set(questions.map(({ tool }) => `'${terminalLine(tool ?? '')}'`))].join(', ')
    const command = hint(`runs show ${terminalLine(runId ?? '')}`)
    this.#asker.note(
      `The run waits for the output of ${names}, which this chat can't execute. ${command} says how to send it.`,
    )
  }

  #askNext(): void {
    const { screen } = this.#asker
    const paused = this.#paused
    const question = paused?.left[0]
    if (paused === undefined || question === undefined) return
    const all = paused.answered.length + paused.left.length
    const place = all > 1 ? `${paused.answered.length + 1} of ${all} · ` : ''
    screen.say('name', `${place}${question.prompt}`)
    if (question.about !== undefined) this.#asker.note(question.about)
    const { wants, schema, tool } = question
    paused.form = wants === 'input' && schema !== undefined ? new Asking(screen, schema) : undefined
    if (paused.form !== undefined) return
    const mayAlways = wants === 'approval' && tool !== undefined
    if (mayAlways) this.#asker.note('y: yes · n: no, and why · a: always for this tool in this session')
    const prompt = wants !== 'approval' ? 'answer' : mayAlways ? 'y, n or a' : 'y or n'
    screen.set({ question: { prompt, isSecret: false, takesEmpty: false } })
  }
}
