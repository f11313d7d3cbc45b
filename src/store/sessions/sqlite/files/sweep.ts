import { filePieceBytes } from '../../../../core/file.ts'
import type { Logger } from '../../../../core/logger.ts'
import { sweepContents } from './delete.ts'
import type { Work } from './save.ts'

interface Options {
  work: Work
  /** Called when the content is gone. */
  onSwept: () => void
  logger: Logger
}

/** Deletes contents that no file has any more, in short commits. The next process deletes what this one can't. */
export class ContentSweep {
  readonly #options: Options
  #working: Promise<void> | undefined
  #isAskedAgain = false
  #closed = false

  constructor(options: Options) {
    this.#options = options
  }

  wake(): void {
    if (this.#closed) return
    this.#isAskedAgain = true
    this.#working ??= this.#work()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#working
  }

  async #work(): Promise<void> {
    const { work, onSwept, logger } = this.#options
    let pieces = 0
    try {
      while (this.#isAskedAgain && !this.#closed) {
        this.#isAskedAgain = false
        for (let isDone = false; !isDone && !this.#closed; ) {
          const swept = await work(sweepContents, 2 * filePieceBytes)
          pieces += swept.pieces
          isDone = swept.isDone
        }
      }
    } catch (error) {
      logger.error({ error }, 'contents of deleted files remain until the next restart')
    }
    this.#working = undefined
    if (pieces > 0 && !this.#closed) onSwept()
  }
}
