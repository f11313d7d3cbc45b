import { toQuestion } from '../runs/activity.ts'
import { waitingLines } from '../runs/waiting.ts'
import { say } from '../terminal/output.ts'
import type { PausedRun } from './piped-run.ts'
import { type Answered, readAnswer, toAnswer } from './turn/answers.ts'
import type { ResumedTurn } from './turn/turn.ts'

/** What a paused run waits for, asked line by line, where a person is there to answer. */
export class LineQuestions {
  readonly #run: PausedRun | undefined
  readonly #answered: Answered[] = []

  constructor(run: PausedRun | undefined) {
    this.#run = run
    this.#show()
  }

  /** Only the program that gave the run its client tools can execute them. */
  get canBeAnswered(): boolean {
    return this.#run?.waiting.every(({ kind }) => kind !== 'tool') === true
  }

  get prompt(): string {
    const asked = this.canBeAnswered ? this.#run?.waiting[this.#answered.length] : undefined
    return asked === undefined ? '> ' : asked.kind === 'approval' ? 'y or n> ' : 'answer> '
  }

  /** Undefined while answers are missing. */
  get taken(): ResumedTurn['answer'] {
    const isWhole = this.#answered.length > 0 && this.#answered.length === this.#run?.waiting.length
    return isWhole ? toAnswer(this.#answered) : undefined
  }

  /** True when all is answered. */
  answer(text: string): boolean {
    const asked = this.#run?.waiting[this.#answered.length]
    if (asked === undefined) return true
    const question = toQuestion(asked)
    const answer = readAnswer(text.trim(), question)
    if (answer === undefined) say('y for yes, n for no; text after the n is the reason.')
    else {
      this.#answered.push({ question, answer })
      this.#show()
    }
    return this.taken !== undefined
  }

  #show(): void {
    if (this.#run === undefined || !this.canBeAnswered) return
    const { waiting } = this.#run
    const asked = waiting[this.#answered.length]
    if (asked === undefined) return
    const [line = ''] = waitingLines({ run_id: this.#run.run_id, waiting: [asked] })
    say(waiting.length > 1 ? `${this.#answered.length + 1} of ${waiting.length}  ${line}` : line)
  }
}
