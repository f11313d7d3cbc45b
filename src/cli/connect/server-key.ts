import type { ResolvedConfig } from '../../config/types.ts'
import type { ServerHint } from '../../core/access/server-file.ts'
import { describeError } from '../command/exit.ts'
import type { ConnectOptions } from '../command/flags.ts'
import { terminalLogger } from '../terminal/logger.ts'
import { say } from '../terminal/output.ts'
import { loadProject } from './project.ts'

/** For a server that has proved itself: the given key, else one from the server's config. */
export async function serverKey(
  options: ConnectOptions,
  { auth }: ServerHint,
  signal: AbortSignal,
): Promise<string | undefined> {
  const given = options.key ?? (process.env.AGENTSERVE_KEY || undefined)
  if (given !== undefined || !auth) return given
  const listed = process.env.AGENTSERVE_API_KEYS?.split(',').flatMap((key) => key.trim() || []) ?? []
  return listed.length > 0 ? listed.find(isPlain) : configKey(options, signal)
}

function operatorKey({ server: { authKeys } }: ResolvedConfig): string | undefined {
  const plain = authKeys.filter(({ key }) => isPlain(key))
  const ofAll = plain.filter(({ userId }) => userId === undefined)
  return (ofAll.find(({ scopes }) => scopes === undefined) ?? ofAll[0] ?? plain[0])?.key
}

async function configKey(options: ConnectOptions, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { config } = await loadProject(options, { data: options.data }, terminalLogger({ quiet: true }), { signal })
    await config.dispose?.()
    return operatorKey(config)
  } catch (error) {
    signal.throwIfAborted()
    say(`The server requires a key, but the config with the key can't be loaded. ${describeError(error)}`)
    return undefined
  }
}

/** False for a hash, which can't be sent as a key. */
function isPlain(key: string): boolean {
  return !key.startsWith('sha256:')
}
