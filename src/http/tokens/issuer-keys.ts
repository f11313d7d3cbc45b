import type { CryptoKey, JWSHeaderParameters, LocalJWKSet } from 'jose'
import { AppError, messageOf } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import type { Clock } from '../../core/time.ts'
import { fetchKeys } from './metadata.ts'

const minute = 60_000
/** Keys that are older are read again, while requests go on with them. */
const freshMs = 10 * minute
/** Keys that could not be read again for so long are given up: one of them may have been withdrawn. */
const keptMs = 24 * 60 * minute
/** Between two tries, whatever asks for them. */
const pauseMs = 30_000
/** The same as long as there are no keys. */
const shortPauseMs = 5_000

export type KeysState = 'ok' | 'failed'

/** The public keys of one issuer: read when needed, kept, and read again when a token names an unknown one. */
export class IssuerKeys {
  readonly #issuer: string
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #closing = new AbortController()
  #keys: { find: LocalJWKSet; atMs: number } | undefined
  #reading: Promise<void> | undefined
  #triedMs = Number.NEGATIVE_INFINITY
  #failed = false

  constructor(issuer: string, clock: Clock, logger: Logger) {
    this.#issuer = issuer
    this.#clock = clock
    this.#logger = logger
  }

  /** `ok`: tokens can be checked. */
  get state(): KeysState {
    return this.#known() === undefined ? 'failed' : 'ok'
  }

  /** Begins to read the keys and waits for nothing. */
  open(): void {
    void this.#read()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#reading
  }

  /** The key that a token names; undefined when the issuer has none such. Throws `unavailable` if nobody can say. */
  async find(header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
    let keys = this.#known()
    if (keys === undefined) {
      await this.#readUnlessTried()
      keys = this.#known()
      if (keys === undefined) throw this.#unavailable()
      return pick(keys.find, header)
    }
    if (this.#clock() - keys.atMs >= freshMs) void this.#readUnlessTried()
    const found = await pick(keys.find, header)
    if (found !== undefined) return found
    await this.#readUnlessTried()
    const next = this.#known()
    const rotated = next === undefined || next === keys ? undefined : await pick(next.find, header)
    // The key may be a new one, so the token can't be called wrong.
    if (rotated === undefined && this.#failed) throw this.#unavailable()
    return rotated
  }

  #known() {
    const keys = this.#keys
    return keys === undefined || this.#clock() - keys.atMs >= keptMs ? undefined : keys
  }

  #readUnlessTried(): Promise<void> {
    if (this.#reading !== undefined) return this.#reading
    return this.#pauseMs() > 0 ? Promise.resolve() : this.#read()
  }

  /** Until the next try. */
  #pauseMs(): number {
    return this.#triedMs + (this.#known() === undefined ? shortPauseMs : pauseMs) - this.#clock()
  }

  #read(): Promise<void> {
    this.#triedMs = this.#clock()
    this.#reading = this.#fetch().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #fetch(): Promise<void> {
    const { signal } = this.#closing
    try {
      const [{ createLocalJWKSet }, keys] = await Promise.all([
        import('jose/jwks/local'),
        fetchKeys(this.#issuer, signal),
      ])
      this.#keys = { find: createLocalJWKSet(keys), atMs: this.#clock() }
      if (this.#failed)
        this.#logger.info({ issuer: this.#issuer }, 'the keys of the issuer of tokens can be read again')
      this.#failed = false
    } catch (error) {
      if (signal.aborted) return
      const what = this.#known() === undefined ? 'tokens are refused' : 'tokens are checked with the earlier ones'
      const about = { issuer: this.#issuer, reason: messageOf(error) }
      this.#logger.warn(about, `the keys of the issuer of tokens can't be read: ${what}`)
      this.#failed = true
    }
  }

  #unavailable(): AppError {
    return new AppError(
      'unavailable',
      "The issuer of tokens can't be reached, so the token can't be checked. Retry later, or send an API key if you have one.",
      { retryAfterSeconds: Math.max(1, this.#pauseMs() / 1000) },
    )
  }
}

async function pick(find: LocalJWKSet, header: JWSHeaderParameters): Promise<CryptoKey | undefined> {
  try {
    return await find(header)
  } catch (error) {
    // No key, several for a token that names none, or one that is not a sound public key: none that can be used.
    if (/^ERR_(?:JWKS|JOSE|JWK)_/.test(String((error as { code?: unknown }).code))) return undefined
    if (error instanceof DOMException || error instanceof TypeError) return undefined
    throw error
  }
}
