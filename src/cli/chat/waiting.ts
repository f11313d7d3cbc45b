import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import type { EntityKind } from '../../core/run.ts'
import { type Question, type TurnEnd, toQuestion } from '../runs/activity.ts'
import { hint } from '../terminal/called-as.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import type { ChatScreen } from './screen.ts'
import { answeredElsewhere } from './turn/answered-elsewhere.ts'
import { type Answered, readAnswer, toAnswer } from './turn/answers.ts'
import type { ResumedTurn } from './turn/turn.ts'

/** The conversation, as far as its paused runs need it. */
export interface Asker {
  readonly client: Client
  readonly screen: ChatScreen
  readonly kind: EntityKind | undefined
  /** Resolves with the error that was shown, if any. */
  resume(end: TurnEnd, answer?: ResumedTurn['answer']): Promise<unknown>
}

/** A run that has paused. */
interface Paused {
  /** The questions that are not answered yet. */
  left: Question[]
  answered: Answered[]
  end: TurnEnd
  /** Stops looking whether somebody else answers. */
  watch: AbortController
}

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

  begin(end: TurnEnd, questions: readonly Question[]): void {
    if (end.status === 'interrupted' && this.#asker.kind === 'workflow') {
      questions = [toQuestion({ kind: 'approval', prompt: 'Continue the run?' })]
    } else if (end.status !== 'input_required') return
    const tools = questions.filter(({ wants }) => wants === 'tool')
    if (tools.length > 0) {
      this.#leave(end, tools)
      return
    }
    const paused = { left: [...questions], answered: [], end, watch: new AbortController() }
    this.#paused = paused
    this.#askNext()
    void this.#watch(paused)
  }

  async answer(text: string): Promise<void> {
    const paused = this.#paused
    const question = paused?.left[0]
    if (paused === undefined || question === undefined) return
    const answer = readAnswer(text, question)
    if (answer === undefined) {
      this.#asker.screen.say('note', 'y for yes, n for no; text after the n is the reason.')
      return
    }
    this.#asker.screen.say('user', terminalText(text))
    paused.left.shift()
    paused.answered.push({ question, answer })
    if (paused.left.length > 0) return this.#askNext()
    this.stop()
    const { end, answered } = paused
    if (end.status === 'interrupted' && !answer.approved) return
    const failure = await this.#asker.resume(end, toAnswer(answered))
    if (!isAppError(failure)) return
    // The server takes no answer that does not fit, and the run waits on.
    if (failure.code === 'invalid_request')
      this.begin(
        end,
        answered.map(({ question }) => question),
      )
    // Somebody else was quicker.
    else if (failure.code === 'conflict') await this.#asker.resume(end)
  }

  /** Asks no more; gives the id of the run. */
  stop(): string | undefined {
    const runId = this.#paused?.end.runId
    this.#paused?.watch.abort()
    this.#paused = undefined
    this.#asker.screen.set({ question: undefined })
    return runId
  }

  /** Shows what comes of an answer that somebody else gives. */
  async #watch(paused: Paused): Promise<void> {
    const { end, watch } = paused
    if (end.runId === undefined) return
    const what = await answeredElsewhere(this.#asker.client, end.runId, end.seq, watch.signal)
    if (what === undefined || this.#paused !== paused) return
    this.stop()
    this.#asker.screen.say('note', `The run was ${what} elsewhere.`)
    await this.#asker.resume(end)
  }

  /** Only the program that gave the run its client tools can execute them. */
  #leave({ runId }: TurnEnd, questions: readonly Question[]): void {
    const names = [...new Set(questions.map(({ tool }) => `'${terminalLine(tool ?? '')}'`))].join(', ')
    const command = hint(`runs show ${terminalLine(runId ?? '')}`)
    this.#asker.screen.say(
      'note',
      `The run waits for the output of ${names}, which this chat can't execute. ${command} says how to send it.`,
    )
  }

  #askNext(): void {
    const { screen } = this.#asker
    const question = this.#paused?.left[0]
    if (question === undefined) return
    screen.say('name', question.prompt)
    if (question.about !== undefined) screen.say('note', question.about)
    screen.set({ question: question.wants === 'approval' ? 'y or n' : 'answer' })
  }
}
