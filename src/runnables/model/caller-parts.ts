import type { Instructions, OutputInterface } from 'ai'

interface Prepared {
  instructions?: Instructions | undefined
  /** The older name in `prepareStep`. */
  system?: Instructions | undefined
}

/** What the caller of a run adds to the call of its model. The agent's own functions see only what is the agent's. */
export class CallerParts {
  readonly #instructions: string | undefined
  readonly #output: OutputInterface | undefined
  readonly #instead: string | undefined

  /** `instead`: takes the place of the agent's own instructions. */
  constructor(instructions: string | undefined, output: OutputInterface | undefined, instead?: string) {
    this.#instructions = instructions
    this.#output = output
    this.#instead = instead
  }

  aroundCall(prepareCall: ((options: never) => Promise<object | undefined>) | undefined) {
    return async (options: Prepared): Promise<Prepared> => {
      const called: Prepared = (await prepareCall?.(options as never)) ?? options
      const prepared = this.#instead === undefined ? called : { ...called, instructions: this.#instead }
      return {
        ...prepared,
        ...(this.#instructions !== undefined && { instructions: this.#append(prepared.instructions) }),
        ...(this.#output !== undefined && { output: this.#output }),
      }
    }
  }

  aroundStep(prepareStep: (options: never) => Promise<Prepared | undefined>) {
    return async (
      options: Prepared & { initialInstructions?: Instructions | undefined },
    ): Promise<Prepared | undefined> => {
      if (this.#instructions === undefined) return prepareStep(options as never)
      const { instructions, initialInstructions } = options
      const own = {
        ...options,
        instructions: this.#strip(instructions),
        initialInstructions: this.#strip(initialInstructions),
      }
      const prepared = await prepareStep(own as never)
      const changed = prepared?.instructions ?? prepared?.system
      return changed === undefined ? prepared : { ...prepared, instructions: this.#append(changed) }
    }
  }

  #append(own: Instructions | undefined): Instructions {
    const more = this.#instructions ?? ''
    if (own === undefined || own === '') return more
    if (typeof own === 'string') return `${own}${this.#tail}`
    return [...[own].flat(), { role: 'system', content: more }]
  }

  /** Takes off what `#append` added. */
  #strip(instructions: Instructions | undefined): Instructions | undefined {
    if (instructions === this.#instructions) return undefined
    if (typeof instructions === 'string') {
      return instructions.endsWith(this.#tail) ? instructions.slice(0, -this.#tail.length) : instructions
    }
    if (!Array.isArray(instructions) || instructions.at(-1)?.content !== this.#instructions) return instructions
    return instructions.slice(0, -1)
  }

  get #tail(): string {
    return `\n\n${this.#instructions}`
  }
}
