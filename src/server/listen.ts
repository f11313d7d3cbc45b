import { needsKey } from '../config/needs-key.ts'
import type { ResolvedServerConfig } from '../config/types.ts'
import { isHashedKey } from '../core/access/api-key.ts'
import { AppError, isAppError } from '../core/error.ts'
import type { Logger } from '../core/logger.ts'
import type { Kernel } from '../http/kernel.ts'
import type { Bound } from '../http/listen.ts'
import { isLoopback } from '../http/security/host.ts'

const portsToTry = 20

const shortestKey = 16

/** Whether only this machine reaches the address. */
export function isLocal(host: string | undefined): boolean {
  return host !== undefined && isLoopback(host)
}

/** Without strong keys the command line listens on loopback only; an embedding program gets a warning. */
export function assertMayListen(server: ResolvedServerConfig, program: boolean, logger: Logger): void {
  const { host } = server.address
  if (isLocal(host)) return
  assertLongKeys(server.authKeys)
  if (needsKey(server) || server.allowUnauthenticated) return
  const where = host === undefined ? 'every network interface' : `'${host}'`
  const message = `Listening on ${where} without keys would let anyone in`
  if (program) {
    throw new AppError(
      'invalid_request',
      `${message}. Set \`auth: { keys: [...] }\` or AGENTSERVE_API_KEYS, or say --allow-unauthenticated.`,
    )
  }
  logger.warn({ host }, `${message}: set \`auth: { keys: [...] }\`, or listen on a loopback address.`)
}

/** Without keys, `*` would let every web page that a user opens read and change all data. */
export function assertKeysForAnyOrigin(server: ResolvedServerConfig): void {
  if (!server.allowOrigins.includes('*') || needsKey(server)) return
  throw new AppError(
    'invalid_request',
    "server.allowOrigins is ['*'] and there are no keys: any web page could read and change everything here. Set " +
      "`auth: { keys: [...] }` or AGENTSERVE_API_KEYS, or name the origins: ['http://localhost:3000'].",
  )
}

/** The length of a hashed key is unknown. */
function assertLongKeys(keys: ResolvedServerConfig['authKeys']): void {
  const short = keys.find(({ key }) => key.length < shortestKey && !isHashedKey(key))
  if (short === undefined) return
  throw new AppError(
    'invalid_request',
    `The API key '${short.id}' has ${short.key.length} characters: use at least ${shortestKey} random ones, or an address of ` +
      'this machine alone.',
  )
}

/** Listens. The command line uses and reports the next free port unless the user named a port. */
export async function listenOn(
  kernel: Kernel,
  { host, port, named }: ResolvedServerConfig['address'],
  program: boolean,
  logger: Logger,
): Promise<Bound> {
  for (let next = port; ; next++) {
    try {
      const bound = await kernel.listen({ host, port: next })
      if (next !== port) logger.warn({ port: bound.port }, `port ${port} is taken; listening on ${bound.port}`)
      return bound
    } catch (error) {
      const isTaken = isAppError(error) && error.code === 'conflict'
      if (!isTaken || named || !program || next >= port + portsToTry) throw error
    }
  }
}
