export interface Samples {
  /** What is under way before there are questions: `Reading 12 files …`. */
  reading: string | undefined
  questions: readonly string[]
  /** Index of the one that Enter sends. */
  chosen: number
}

export interface ChoiceKey {
  upArrow: boolean
  downArrow: boolean
  tab: boolean
  shift: boolean
}

export interface WelcomeOptions {
  /** Rows above the first question, for the session that begins. */
  header(sessionId: string): Header
  /** Finds the questions. `say` prints a line above them, `reading` replaces what is under way. */
  find(progress: Progress, signal: AbortSignal): Promise<string[]>
}

export interface Header {
  title: string
  rows: string
}

export interface Progress {
  say(text: string): void
  reading(text: string | undefined): void
}

/** What a new user sees before the first message: questions to choose from, until one is sent. */
export class Welcome {
  readonly #options: WelcomeOptions
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  #samples: Samples = { reading: undefined, questions: [], chosen: 0 }
  #finding: Promise<void> | undefined
  #isOver = false

  constructor(options: WelcomeOptions) {
    this.#options = options
  }

  readonly get = (): Samples => this.#samples

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  header(sessionId: string): Header {
    return this.#options.header(sessionId)
  }

  /** Looks for questions. Resolves when there are, or none; what goes wrong is said. */
  begin(say: (text: string) => void, describe: (error: unknown) => string): Promise<void> {
    const { signal } = this.#closing
    const progress = { say, reading: (reading: string | undefined) => this.#set({ reading }) }
    this.#finding ??= this.#options
      .find(progress, signal)
      .then((questions) => this.#set({ questions }))
      .catch((error: unknown) => {
        if (!signal.aborted) say(describe(error))
      })
      .finally(() => this.#set({ reading: undefined }))
    return this.#finding
  }

  /** Moves the choice while nothing is typed; false when the key means something else. */
  choose({ upArrow, downArrow, tab, shift }: ChoiceKey, typed: string): boolean {
    const { questions, chosen } = this.#samples
    if (typed !== '' || questions.length === 0) return false
    if (tab) this.#set({ chosen: (chosen + (shift ? questions.length - 1 : 1)) % questions.length })
    else if (upArrow && chosen > 0) this.#set({ chosen: chosen - 1 })
    else if (downArrow) this.#set({ chosen: Math.min(questions.length - 1, chosen + 1) })
    else return false
    return true
  }

  /** What Enter sends: the chosen question for an empty line, the one with a typed number, else what is typed. */
  answerTo(typed: string): string {
    return this.#samples.questions[this.placeFor(typed)] ?? typed
  }

  /** The index of the question that Enter would send; -1 when it is the typed text. */
  placeFor(typed: string): number {
    const { questions, chosen } = this.#samples
    if (typed === '') return chosen
    return /^[1-9]$/.test(typed) && Number(typed) <= questions.length ? Number(typed) - 1 : -1
  }

  /** A message was sent: nothing is offered any more. */
  end(): void {
    this.#isOver = true
    this.#set({ questions: [], reading: undefined })
  }

  /** Stops looking; resolves when that has ended. */
  async close(): Promise<void> {
    this.end()
    this.#closing.abort()
    await this.#finding
  }

  #set(change: Partial<Samples>): void {
    this.#samples = { ...this.#samples, ...(this.#isOver ? { questions: [], reading: undefined } : change) }
    for (const listener of this.#listeners) listener()
  }
}
