import { AppError } from '../../core/error.ts'
import type { Fact, RunUser } from '../../core/memory/fact.ts'

const noFacts: readonly Fact[] = Object.freeze([])

/** The user of a run whose entity has no user memory. */
export class UserWithoutMemory implements RunUser {
  readonly id: string | null
  readonly facts = noFacts

  constructor(id: string | null) {
    this.id = id
  }

  async remember(): Promise<Fact> {
    throw withoutMemory()
  }

  async forget(): Promise<boolean> {
    throw withoutMemory()
  }
}

function withoutMemory(): AppError {
  return new AppError('run_failed', 'This agent has no user memory. Set `memory: { user: true }` in its settings.')
}
