import { fromEnvFile, fromEnvironment } from '../../config/environment.ts'
import { adviseUnauthorized, UsageError } from '../command/exit.ts'
import type { ConnectOptions } from '../command/flags.ts'

export interface NamedServer {
  url: string
  apiKey: string | undefined
}

/**
 * The server that `--url` or AGENTSERVE_URL names. A key is only used with an address from the same source: another
 * source's key is for another server. When the server wants a key, the error says why that key was not sent.
 */
export function findNamedServer({ url, key }: ConnectOptions): NamedServer | undefined {
  if (url !== undefined) {
    if (key === undefined) {
      const unsent = process.env.AGENTSERVE_KEY ? 'AGENTSERVE_KEY is not sent to the server of --url. ' : ''
      adviseUnauthorized(`${unsent}Pass the key with --key.`)
    }
    return { url, apiKey: key }
  }
  const inEnvironment = fromEnvironment('AGENTSERVE_URL')
  const named = inEnvironment ?? fromEnvFile('AGENTSERVE_URL')
  if (!named) return undefined
  if (key !== undefined) {
    throw new UsageError('--key needs --url: here AGENTSERVE_URL names the server, so set AGENTSERVE_KEY for its key.')
  }
  const [source, other] = inEnvironment === undefined ? ['.env', 'the environment'] : ['the environment', '.env']
  const [own, theirs] = [fromEnvironment('AGENTSERVE_KEY'), fromEnvFile('AGENTSERVE_KEY')]
  const [sent, kept] = inEnvironment === undefined ? [theirs, own] : [own, theirs]
  if (!sent && kept) {
    adviseUnauthorized(
      `AGENTSERVE_KEY from ${other} is not sent, because AGENTSERVE_URL comes from ${source}. Set both in the same place.`,
    )
  }
  return { url: named, apiKey: sent || undefined }
}
