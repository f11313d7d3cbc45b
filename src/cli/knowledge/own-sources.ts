import { abortable } from '../../runtime/abort.ts'
import type { Connection } from '../connect/connect.ts'

/** Ingests the sources of the config as a server does when it starts. One that runs has done so: nothing happens then. */
export async function readOwnSources(own: Connection['own'], signal: AbortSignal): Promise<void> {
  if (own === undefined || own.config.knowledge.sources.length === 0) return
  own.server.refreshSources()
  await abortable(own.server.ingested(), signal)
}
