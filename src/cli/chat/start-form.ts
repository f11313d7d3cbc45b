import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { EntityKind } from '../../core/run.ts'
import { terminalLine, terminalText } from '../terminal/text.ts'
import { Asking } from './form/asking.ts'
import type { ChatScreen } from './screen.ts'

/** The form that starts a workflow whose input is an object. */
export class StartForm {
  readonly #screen: ChatScreen
  #name = ''
  #schema: JsonObject | undefined
  #open: Asking | undefined

  constructor(screen: ChatScreen) {
    this.#screen = screen
  }

  /** Whether what is typed goes into the form. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Whether the agent takes no message. */
  get isNeeded(): boolean {
    return this.#schema !== undefined
  }

  /** Learns what the agent takes, and says it. */
  async meet(client: Client, agentId: string, kind: EntityKind | undefined, signal?: AbortSignal): Promise<void> {
    this.close()
    this.#name = terminalLine(agentId)
    this.#schema = kind === 'workflow' ? await inputSchemaOf(client, agentId, signal) : undefined
    this.#screen.set({ startsForm: this.isNeeded })
    if (this.#schema === undefined) return
    const names = Object.keys(Object(this.#schema.properties)).map(terminalLine).join(', ')
    this.#screen.say('note', `${this.#name} asks for ${names}. Enter opens its form.`)
  }

  /** False where there is none. */
  open(): boolean {
    if (this.#schema === undefined || this.#open !== undefined) return false
    this.#open = new Asking(this.#screen, this.#schema, { startsRun: true })
    return true
  }

  close(): void {
    if (this.#open === undefined) return
    this.#open = undefined
    this.#screen.set({ question: undefined })
  }

  /** To the field before; from the first one out of the form. */
  back(): void {
    if (this.#open?.back() === false) this.close()
  }

  /** The input of the run, once there is one. */
  read(text: string): { value: Json } | undefined {
    if (this.#open !== undefined) {
      const filled = this.#open.answer(text)
      if (filled !== undefined) this.close()
      return filled
    }
    this.#screen.say('user', terminalText(text))
    const value = objectIn(text)
    if (value !== undefined) return { value }
    const hint = 'Enter opens it. A JSON object works too.'
    this.#screen.say('note', `${this.#name} is started by a form. ${hint}`)
    return undefined
  }
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Undefined where the input is no object, and where the key may not read it. */
async function inputSchemaOf(client: Client, agentId: string, signal?: AbortSignal): Promise<JsonObject | undefined> {
  try {
    const { config } = await client.agents.get(agentId, { include: 'config', signal })
    return config.input_schema?.type === 'object' ? config.input_schema : undefined
  } catch (error) {
    if (isAppError(error) && error.code === 'forbidden') return undefined
    throw error
  }
}
