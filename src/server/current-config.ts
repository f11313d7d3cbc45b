import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import { createSerial } from '../runtime/serial.ts'
import type { OpenableKnowledge } from '../service/knowledge/knowledge.ts'
import { ingestSources } from './ingest-sources.ts'

export interface CurrentConfigOptions {
  knowledge: OpenableKnowledge | undefined
  logger: Logger
  /** Ends ingestion. */
  signal: AbortSignal
  /** Resolves when the runs of the config in use have ended. */
  runsEnded: () => Promise<void>
}

/** The config in use, the ingestion of its sources, and the `dispose` of those that were replaced. */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions
  readonly #ingests = createSerial()
  readonly #disposals = new Set<Promise<void>>()
  #config: ResolvedConfig

  constructor(initial: ResolvedConfig, options: CurrentConfigOptions) {
    this.#config = initial
    this.#options = options
  }

  get value(): ResolvedConfig {
    return this.#config
  }

  /** The earlier config is disposed of when its runs have ended. */
  replace(next: ResolvedConfig): void {
    const replaced = this.#config
    const disposal = this.#options.runsEnded().then(() => this.#dispose(replaced))
    this.#disposals.add(disposal)
    void disposal.finally(() => this.#disposals.delete(disposal))
    this.#config = next
  }

  /** Ingests what has changed in the sources, after what is being ingested. */
  ingest(): void {
    const { knowledge, logger, signal } = this.#options
    if (knowledge === undefined) return
    const { root, knowledge: sources } = this.#config
    void this.#ingests.run(() => ingestSources({ knowledge, root, ...sources, logger, signal }))
  }

  /** Resolves when the sources have been ingested, as far as they could be. */
  ingested(): Promise<void> {
    return this.#ingests.idle()
  }

  /** Disposes of the config in use; resolves when the earlier ones have been disposed of too. */
  async dispose(): Promise<void> {
    await Promise.all([...this.#disposals, this.#dispose(this.#config)])
  }

  async #dispose(config: ResolvedConfig): Promise<void> {
    try {
      await config.dispose?.()
    } catch (error) {
      this.#options.logger.error({ error }, 'dispose failed')
    }
  }
}
