import { isDeepStrictEqual } from 'node:util'
import type { ResolvedConfig } from '../../config/types.ts'
import { createSerial } from '../../runtime/serial.ts'
import type { OpenServer } from '../../server.ts'
import { watchPaths } from '../ingest/watch.ts'

export interface SourceWatch {
  /** Watches the sources of this config from now on. */
  update(config: ResolvedConfig): void
  close(): Promise<void>
}

/** Ingests changes of the config's knowledge sources into the server. */
export function watchSources(config: ResolvedConfig, server: OpenServer): SourceWatch {
  const onError = (error: unknown) => server.services.logger.error({ error }, 'knowledge sources are not watched')
  let watched: readonly string[] = []
  let watcher: { close(): Promise<void> } | undefined
  const updates = createSerial()

  const update = ({ root, knowledge: { sources } }: ResolvedConfig) => {
    if (isDeepStrictEqual(sources, watched)) return
    watched = sources
    const work = updates.run(async () => {
      await watcher?.close()
      watcher = undefined
      if (sources.length === 0) return
      const onChange = () => {
        server.refreshSources()
        return server.ingested()
      }
      watcher = await watchPaths({ root, paths: sources, onChange, onError })
      // Catches changes that were saved before the watcher was ready.
      onChange().catch(onError)
    })
    work.catch(onError)
  }
  update(config)
  return {
    update,
    async close() {
      await updates.idle()
      await watcher?.close()
    },
  }
}
