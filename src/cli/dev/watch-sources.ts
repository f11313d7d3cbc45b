import { isDeepStrictEqual } from 'node:util'
import type { ResolvedConfig } from '../../config/types.ts'
import type { OpenServer } from '../../server.ts'
import { watchPaths } from '../ingest/watch.ts'

export interface SourceWatch {
  /** Watches what this config names from now on. */
  update(config: ResolvedConfig): void
  close(): Promise<void>
}

/** Has the server take in what changes among the knowledge sources of its config. */
export function watchSources(config: ResolvedConfig, server: OpenServer): SourceWatch {
  const onError = (error: unknown) => server.services.logger.error({ error }, 'knowledge sources are not watched')
  let watched: readonly string[] = []
  let work: Promise<{ close(): Promise<void> } | undefined> = Promise.resolve(undefined)

  const update = ({ root, knowledge: { sources } }: ResolvedConfig) => {
    if (isDeepStrictEqual(sources, watched)) return
    watched = sources
    work = work.then(async (before) => {
      await before?.close()
      if (sources.length === 0) return undefined
      const onChange = () => {
        server.refreshSources()
        return server.ingested()
      }
      const watcher = await watchPaths({ root, paths: sources, onChange, onError })
      // What was saved before changes were seen.
      onChange().catch(onError)
      return watcher
    })
    work.catch(onError)
  }
  update(config)
  return {
    update,
    close: async () => (await work.catch(() => undefined))?.close(),
  }
}
