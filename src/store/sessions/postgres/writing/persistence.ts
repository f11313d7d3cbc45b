import { type AppError, isAppError } from '../../../../core/error.ts'
import { classify, type Failure } from '../../../postgres/failure.ts'
import { LostCommit } from '../../../postgres/transaction.ts'

const firstPauseMs = 50
const longestPauseMs = 2_000

/** Repeats what failed because the database was away, until the work is abandoned or the store closes. */
export class Persistence {
  /** The last reason to abandon, and how many there were. */
  #reason: AppError | undefined
  #reasons = 0
  #isEnding = false
  readonly #wakes = new Set<() => void>()

  /** `before`: called before each repetition. */
  async insist<T>(work: () => Promise<T>, before: () => void): Promise<T> {
    const reasons = this.#reasons
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
      try {
        return await work()
      } catch (error) {
        if (failureOf(error) !== 'away') throw error
        if (reasons === this.#reasons && !this.#isEnding) await this.#pause(pauseMs)
        if (reasons !== this.#reasons) throw this.#reason
        if (this.#isEnding) throw error
        before()
      }
    }
  }

  /**
   * A transaction whose answer to COMMIT was lost is asked for again until it is known what became of it. `again`: it may have
   * been committed. What fails otherwise is not repeated.
   */
  async certain<T>(work: (again: boolean) => Promise<T>): Promise<T> {
    try {
      return await work(false)
    } catch (error) {
      if (!(causeOf(error) instanceof LostCommit)) throw error
    }
    return this.insist(
      () => work(true),
      () => {},
    )
  }

  /** Ends what is repeated now. */
  abandon(error: AppError): void {
    this.#reason = error
    this.#reasons += 1
    this.#wakeAll()
  }

  /** Nothing is repeated any more. */
  end(): void {
    this.#isEnding = true
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const wake of this.#wakes) wake()
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#wakes.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#wakes.add(wake)
    })
  }
}

/** A statement that takes too long would again. */
export function failureOf(error: unknown): Failure {
  return failureCode(error) === '57014' ? 'again' : classify(causeOf(error))
}

export function failureCode(error: unknown): string | undefined {
  const { code } = causeOf(error) as { code?: string }
  return code
}

/** What the store's own parts throw has the error of the database as its cause. */
function causeOf(error: unknown): unknown {
  return isAppError(error) && error.cause !== undefined ? error.cause : error
}
