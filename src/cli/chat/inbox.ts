import { describeError } from '../command/exit.ts'
import { terminalText } from '../terminal/text.ts'
import { commandIn, runCommand } from './commands.ts'
import type { Conversation } from './conversation.ts'

/** Takes what is typed: an answer goes to the question that is open, anything else waits until the run before has ended. */
export class Inbox {
  readonly #conversation: Conversation
  #queued: string[] = []
  #isWorking = false

  constructor(conversation: Conversation) {
    this.#conversation = conversation
    conversation.onRest = () => void this.#goOn()
  }

  get isBusy(): boolean {
    return this.#isWorking || this.#conversation.busy
  }

  /** False for a line that does nothing, which stays in the input. */
  submit(text: string): boolean {
    const { screen, history } = this.#conversation
    const { question } = screen.get()
    if (question !== undefined && !this.isBusy) {
      if (text === '' && !question.takesEmpty) return false
      void this.#work(text, undefined)
      return true
    }
    if (text === '') return this.#continue()
    history.add(text)
    this.#queue([...this.#queued, text], false)
    void this.#goOn()
    return true
  }

  /** Takes the last queued message out, to be changed. */
  takeLast(): string | undefined {
    const last = this.#queued.at(-1)
    if (last !== undefined) this.#queue(this.#queued.slice(0, -1), this.#conversation.screen.get().held)
    return last
  }

  /** Takes all queued messages out; they are in the history. */
  empty(): void {
    const count = this.#queued.length
    if (count === 0) return
    this.#queue([], false)
    const what = count === 1 ? '1 queued message was' : `${count} queued messages were`
    this.#conversation.note(`${what} not sent. Up brings ${count === 1 ? 'it' : 'them'} back.`)
  }

  #continue(): boolean {
    if (this.isBusy) return false
    if (this.#queued.length === 0) return this.#conversation.openForm()
    this.#queue(this.#queued, false)
    void this.#goOn()
    return true
  }

  async #goOn(): Promise<void> {
    const { screen } = this.#conversation
    while (!this.isBusy && screen.get().question === undefined && !screen.get().held) {
      const [text, ...rest] = this.#queued
      if (text === undefined) return
      this.#queue(rest, false)
      if (!(await this.#work(text, commandIn(text)))) this.#queue(this.#queued, this.#queued.length > 0)
    }
  }

  /** False when the message could not be sent. */
  async #work(text: string, command: string | undefined): Promise<boolean> {
    const { screen } = this.#conversation
    this.#isWorking = true
    screen.set({ working: command !== undefined })
    let isSent = true
    try {
      if (command === undefined) isSent = await this.#conversation.send(text)
      else await runCommand(this.#conversation, text)
    } catch (error) {
      screen.say('error', describeError(error))
    }
    this.#isWorking = false
    screen.set({ working: false })
    if (command === undefined) void this.#goOn()
    return isSent
  }

  #queue(queued: string[], held: boolean): void {
    this.#queued = queued
    this.#conversation.screen.set({ queued: queued.map((text) => terminalText(text)), held })
  }
}
