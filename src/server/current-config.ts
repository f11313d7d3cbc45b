import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { Timers } from '../core/time.ts'
import { createSerial } from '../runtime/serial.ts'
import type { OpenableKnowledge } from '../service/knowledge/knowledge.ts'
import { ingestSources } from './ingest-sources.ts'
import { RemoteSources } from './remote/remote-sources.ts'

export interface CurrentConfigOptions {
  knowledge: OpenableKnowledge | undefined
  logger: Logger
  /** Stops ingestion. */
  signal: AbortSignal
  timers: Timers
  /** For what the next fetch of a website or repository needs; undefined: nothing is kept. */
  folder: string | undefined
  /** Resolves when the runs of the current config have ended. */
  runsEnded: () => Promise<void>
}

/** The current config, the ingestion of its sources, and the disposal of replaced configs. */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions
  readonly #ingests = createSerial()
  readonly #disposals = new Set<Promise<void>>()
  /** Of each ingestion that waits or is active, the files that are still to come; undefined before they are known. */
  readonly #left = new Map<symbol, number | undefined>()
  readonly #remote: RemoteSources | undefined
  #config: ResolvedConfig

  constructor(initial: ResolvedConfig, options: CurrentConfigOptions) {
    this.#config = initial
    this.#options = options
    const { knowledge } = options
    this.#remote = knowledge && new RemoteSources({ ...options, knowledge, root: initial.root })
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
    const id = Symbol()
    this.#left.set(id, undefined)
    const onLeft = (files: number) => void this.#left.set(id, files)
    const done = this.#ingests.run(() => ingestSources({ knowledge, root, ...sources, logger, signal, onLeft }))
    void done.finally(() => this.#left.delete(id))
    this.#remote?.update(sources)
  }

  /** How many files are still to be ingested; undefined when none are. */
  get toCome(): number | undefined {
    if (this.#left.size === 0) return undefined
    return [...this.#left.values()].reduce((sum: number, files) => sum + (files ?? 0), 0)
  }

  /** Resolves when ingestion has finished; failures are logged. */
  ingested(): Promise<void> {
    return this.#ingests.idle()
  }

  /** Resolves when nothing is being ingested or fetched. */
  async idle(): Promise<void> {
    await Promise.all([this.ingested(), this.#remote?.idle()])
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
