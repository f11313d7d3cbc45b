import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create.ts'
import type { ClientRequest, OpenTransport, Transport } from '../../client/transport/transport.ts'
import type { ResolvedConfig } from '../../config/types.ts'
import type { ServerHint } from '../../core/access/server-file.ts'
import type { OpenServer, ShutdownOptions } from '../../server.ts'

/** The server that the requests of a command go to now: its own, or another process's. */
export interface Target {
  /** In errors. */
  name: string
  paths: Paths
  key: string | undefined
  send: Transport
  /** Of another process. */
  hint?: ServerHint
  /** Of this one. */
  own?: OwnServer
  close(options?: CloseOptions): Promise<void>
}

export interface OwnServer {
  server: OpenServer
  config: ResolvedConfig
}

export interface CloseOptions extends Pick<ShutdownOptions, 'deadline' | 'signal'> {
  /** The ids of the runs that this command has started. */
  started?: ReadonlySet<string>
}

interface Paths {
  prefix?: string | undefined
  a2aPrefix?: string | undefined
  healthPath?: string | undefined
}

/** What a client is made with whose requests may go to servers with different paths. */
export const standIns = { prefix: '~api', a2aPrefix: '~a2a', healthPath: '~health' } as const

/** The request as this target takes it. */
export function addressed(request: ClientRequest, { paths, key }: Target): ClientRequest {
  const { prefix = '/api/v1', a2aPrefix = '/api/v1/a2a', healthPath = '/health' } = paths
  const health = healthPath === '/' && request.url !== standIns.healthPath ? '' : healthPath
  const of: Record<string, string> = { api: prefix, a2a: a2aPrefix, health }
  const url = request.url.replace(/^~(api|a2a|health)/, (_, name: string) => of[name] ?? '')
  const headers = key === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${key}` }
  return { ...request, url, headers }
}

/** A client of this server alone. */
export function clientOf(target: Target): Client {
  return createClient({ transport: (request) => target.send(addressed(request, target)), ...standIns })
}

/** The server of another process. */
export function targetAt(hint: ServerHint, key: string | undefined, transport: OpenTransport): Target {
  return {
    name: hint.url ?? `\`agentserve ${hint.command}\` (process ${hint.pid})`,
    paths: { prefix: hint.prefix, a2aPrefix: hint.a2a_prefix, healthPath: hint.health_path },
    key,
    send: transport.send,
    hint,
    close: () => transport.close(),
  }
}
