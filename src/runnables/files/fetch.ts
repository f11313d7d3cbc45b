import { AppError, isAppError } from '../../core/error.ts'
import { download } from '../../runtime/download.ts'
import type { Network } from '../../runtime/public-network.ts'
import type { Defaults } from '../base/defaults.ts'
import { noLimits } from '../limits/bounded.ts'

export interface Fetching {
  /** `server.files.fetchUrls`. */
  isOn: boolean
  /** Of one file. */
  maxBytes: number
  network?: Network | undefined
}

/** Also for an agent without a server's limits. */
const usualBytes = 8 * 1024 * 1024

/** How the agents of a config fetch files. */
export function fetchingOf({ fetchUrls = true, limits = noLimits, testDoubles }: Defaults): Fetching {
  const maxBytes = Number.isFinite(limits.fileBytes) ? limits.fileBytes : usualBytes
  return { isOn: fetchUrls, maxBytes, network: testDoubles?.network }
}

export interface Fetched {
  bytes: Uint8Array
  /** Without parameters. */
  mediaType: string | undefined
}

const timeoutMs = 10_000

/** Fetches a file from the internet: never from a private address, without keys, within 10 s. Throws `run_failed`. */
export async function fetchFile(url: string, fetching: Fetching, signal: AbortSignal): Promise<Fetched> {
  const { maxBytes, network } = fetching
  try {
    const rules = { allowHttp: true, allowPrivate: false, refuseCredentials: true, accept: '*/*' }
    const page = await download(url, { ...rules, maxBytes, timeoutMs, signal, network })
    if (page === undefined) throw new AppError('run_failed', `${url} has no content.`)
    const mediaType = page.mediaType?.split(';', 1)[0]?.trim().toLowerCase()
    return { bytes: new Uint8Array(page.bytes), mediaType: mediaType === '' ? undefined : mediaType }
  } catch (error) {
    if (!isAppError(error)) throw error
    throw new AppError('run_failed', `A file of the message was not fetched: ${error.message}`, { cause: error })
  }
}
