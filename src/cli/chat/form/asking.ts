import type { Json, JsonObject } from '../../../core/json.ts'
import { terminalText } from '../../terminal/text.ts'
import type { ChatScreen } from '../screen.ts'
import { Interview } from './interview.ts'

const longestPrompt = 24

/** A form in the chat: it asks on the screen, and what is typed answers. */
export class Asking {
  readonly #screen: ChatScreen
  readonly #interview: Interview
  readonly #startsRun: boolean

  constructor(screen: ChatScreen, schema: JsonObject, { startsRun = false } = {}) {
    this.#screen = screen
    this.#startsRun = startsRun
    this.#interview = new Interview(schema)
    this.#show()
  }

  /** Gives the value of the form when it is filled in. */
  answer(text: string): { value: Json } | undefined {
    const { step } = this.#interview
    if (step === undefined) return undefined
    this.#screen.say('user', step.isSecret ? '•'.repeat(Math.min(8, text.length)) : terminalText(text))
    const problem = this.#interview.answer(text)
    if (problem !== undefined) this.#screen.say('error', problem)
    const { value } = this.#interview
    if (this.#interview.step === undefined && value !== undefined) return { value }
    this.#show()
    return undefined
  }

  /** Asks the question before again; false at the first one. */
  back(): boolean {
    const went = this.#interview.back()
    if (went) this.#show()
    return went
  }

  #show(): void {
    const { step } = this.#interview
    if (step === undefined) return
    const { label, about, isSecret } = step
    const lines = [...(label === '' ? [] : [label]), ...about]
    if (lines.length > 0) this.#screen.say('note', lines.join('\n'))
    const short = label.replace(/ (?:\[.*\]|\(optional\))$/s, '')
    const prompt = short === '' || short.length > longestPrompt ? 'answer' : short
    this.#screen.set({ question: { prompt, isSecret, takesEmpty: true, startsRun: this.#startsRun } })
  }
}
