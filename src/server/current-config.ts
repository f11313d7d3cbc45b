import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import { createSerial } from '../runtime/serial.ts'
import type { OpenableKnowledge } from '../service/knowledge/knowledge.ts'
import { ingestSources } from './ingest-sources.ts'

export interface CurrentConfigOptions {
  knowledge: OpenableKnowledge | undefined
  logger: Logger
  /** Stops ingestion. */
  signal: AbortSignal
  /** Resolves when the runs of the current config have ended. */
  runsEnded: () => Promise<void>
}

/** The current config, the ingestion of its sources, and the disposal of replaced configs. */
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

  /** Disposes of the previous config once its runs have ended. */
  replace(next: ResolvedConfig): void {
    const replaced = this.#config
    const disposal = this.#options.runsEnded().then(() => this.#dispose(replaced))
    this.#disposals.add(disposal)
    void disposal.finally(() => this.#disposals.delete(disposal))
    this.#config = next
  }

  /** Ingests changed sources after the active ingestion. */
  ingest(): void {
    const { knowledge, logger, signal } = this.#options
    if (knowledge === undefined) return
    const { root, knowledge: sources } = this.#config
    void this.#ingests.run(() => ingestSources({ knowledge, root, ...sources, logger, signal }))
  }

  /** Resolves when ingestion has finished; failures are logged. */
  ingested(): Promise<void> {
    return this.#ingests.idle()
  }

  /** Disposes of the current config; resolves when earlier ones are disposed of too. */
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
