import { resolveConfig } from '../../../src/config/resolve.ts'
import type { ServerConfig, UserConfig } from '../../../src/config/types.ts'
import type { RunEvent } from '../../../src/core/event.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { GivenPart } from '../../../src/core/message.ts'
import type { Network } from '../../../src/runtime/public-network.ts'
import { composeServer } from '../../../src/server/server.ts'
import { configParts } from '../../../src/server.ts'
import type { ResumeAnswer } from '../../../src/service/services.ts'

interface Opening {
  /** The file of the sessions; default: in memory. */
  path?: string
  network?: Network
  server?: ServerConfig
}

/** A server without a socket that takes files as bytes. */
export async function openFiles(user: UserConfig, { path, network, server }: Opening = {}) {
  const opened = composeServer(
    resolveConfig({
      user: {
        ...user,
        server: {
          logger: silentLogger,
          requestTimeout: '10m',
          sessionStorage: path === undefined ? 'memory' : { type: 'sqlite', path, synchronous: 'NORMAL' },
          vectorDb: { type: 'memory' },
          embedding: { provider: 'lexical' },
          ...server,
        },
      },
      root: process.cwd(),
      purpose: 'library',
      parts: configParts,
      testDoubles: { network },
    }),
    { mode: 'embedded' },
  )
  const { services } = opened
  await opened.inject({ method: 'GET', url: '/health' })
  const close = () => opened.shutdown({ deadline: 0 })
  return {
    services,
    async run(entityId: string, parts: GivenPart[], sessionId?: string) {
      const handle = await services.runs.start({ entityId, parts, sessionId, mode: 'plain', unknownSession: 'create' })
      return handle.result()
    },
    async resume(runId: string, answer: Partial<ResumeAnswer> = { approved: true }) {
      return (await services.runs.resume(runId, { ...answer, mode: 'plain' })).result()
    },
    /** With prompts. */
    async events(runId: string): Promise<RunEvent[]> {
      const events: RunEvent[] = []
      const recorded = await services.runs.events(runId, 0)
      for await (const batch of services.runs.withPrompts(runId, recorded)) events.push(...batch)
      return events
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

export const text = (said: string): GivenPart => ({ type: 'text', text: said })
export const upload = (data: Uint8Array, media_type = 'image/png', name = 'a.png'): GivenPart => ({
  type: 'file',
  media_type,
  name,
  data,
})

/** Starts like a PNG, so that its type is known. */
export function picture(size: number, fill = 7): Uint8Array {
  const bytes = new Uint8Array(size).fill(fill)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return bytes
}
