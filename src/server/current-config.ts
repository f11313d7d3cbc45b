import type { ResolvedConfig } from '../config/types.ts'
import type { Logger } from '../core/logger.ts'
import type { Timer, Timers } from '../core/time.ts'
import { createSerial } from '../runtime/serial.ts'
import type { Act } from '../service/audit/audit.ts'
import type { OpenableKnowledge } from '../service/knowledge/knowledge.ts'
import { configName } from './folders.ts'
import { ingestSources } from './knowledge/ingest-sources.ts'
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

/** What one server at a time does of those that share the knowledge base: it ingests the sources of the config. */
const watch = 'watch'
const lookMs = 10_000

/** The current config, the ingestion of its sources, and the disposal of replaced configs. */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions
  readonly #ingests = createSerial()
  readonly #disposals = new Set<Promise<void>>()
  /** Of each ingestion that waits or is active, the files that are still to come; undefined before they are known. */
  readonly #left = new Map<symbol, number | undefined>()
  readonly #remote: RemoteSources | undefined
  #config: ResolvedConfig
  /** Whether this server ingests the sources. */
  #isOurs = false
  #look: Timer | undefined

  constructor(initial: ResolvedConfig, options: CurrentConfigOptions) {
    this.#config = initial
    this.#options = options
    const { knowledge } = options
    this.#remote = knowledge && new RemoteSources({ ...options, knowledge, root: initial.root })
    options.signal.addEventListener('abort', () => options.timers.clear(this.#look), { once: true })
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

  /** Ingests changed sources after the active ingestion, unless another server does. */
  ingest(): void {
    const { knowledge } = this.#options
    if (knowledge === undefined) return
    const isAlone = knowledge.works === undefined
    const { knowledge: sources } = this.#config
    const id = Symbol()
    this.#left.set(id, undefined)
    const done = this.#ingests.run(async () => {
      if (isAlone || (await this.#takeWatch(knowledge))) await this.#ingest(knowledge, id)
    })
    void done.finally(() => this.#left.delete(id))
    if (isAlone) this.#remote?.update(sources)
  }

  async #ingest(knowledge: OpenableKnowledge, id: symbol): Promise<void> {
    const { logger, signal } = this.#options
    const { root, knowledge: sources } = this.#config
    if (knowledge.works !== undefined) this.#remote?.update(sources)
    const onLeft = (files: number) => void this.#left.set(id, files)
    await ingestSources({ knowledge, root, ...sources, logger, signal, onLeft })
  }

  /** Asks again from now on: the server that has the sources may end, or this one lose them while it stands still. */
  async #takeWatch(knowledge: OpenableKnowledge): Promise<boolean> {
    const { timers, signal, logger } = this.#options
    const had = this.#isOurs
    try {
      this.#isOurs = (await knowledge.works?.take(watch)) === true
    } catch (error) {
      if (!signal.aborted) logger.debug({ error }, 'it is not known which server ingests the sources')
    }
    if (had && !this.#isOurs) {
      logger.warn({}, 'another server has taken over the knowledge sources')
      this.#remote?.update({ ...this.#config.knowledge, remote: [] })
    }
    timers.clear(this.#look)
    if (!signal.aborted) {
      this.#look = timers.set(() => void this.#lookAgain(knowledge), lookMs)
      this.#look.unref()
    }
    return this.#isOurs
  }

  #lookAgain(knowledge: OpenableKnowledge): Promise<void> {
    const id = Symbol()
    const done = this.#ingests.run(async () => {
      const had = this.#isOurs
      if (!(await this.#takeWatch(knowledge)) || had) return
      this.#options.logger.info({}, 'this server ingests the knowledge sources from now on')
      this.#left.set(id, undefined)
      await this.#ingest(knowledge, id)
    })
    return done.finally(() => this.#left.delete(id))
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

/** The act of reading the config again. */
export function reloadOf(config: ResolvedConfig): Act {
  const name = configName(config)
  return { action: 'config.reload', ...(name !== undefined && { object: { kind: 'file', id: name } }) }
}
