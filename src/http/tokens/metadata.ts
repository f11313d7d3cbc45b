import type { JSONWebKeySet } from 'jose'
import { AppError } from '../../core/error.ts'
import { type Answer, fetchAnswer, openConnections } from '../../runtime/download.ts'

/** For both requests together. */
const timeoutMs = 5_000
const maxBytes = 512 * 1024

/** Where OpenID Connect Discovery 1.0 (section 4) has the issuer say where its keys are. */
export function configurationUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

/** Reads the issuer's keys, found by discovery. Redirects are not followed. Throws an AppError that says what is wrong. */
export async function fetchKeys(issuer: string, signal: AbortSignal): Promise<JSONWebKeySet> {
  // The operator has named the issuer, so it may be in a private network; only one on this machine goes unencrypted.
  const allowHttp = issuer.startsWith('http:')
  const connections = await openConnections({ allowHttp, allowPrivate: true })
  const endMs = performance.now() + timeoutMs
  const get = async (address: string) => {
    const left = Math.max(1, Math.ceil(endMs - performance.now()))
    const options = { signal, accept: 'application/json', maxBytes, timeoutMs: left, wants: isJson }
    return objectOf(address, await fetchAnswer(address, connections, options))
  }
  try {
    const address = configurationUrl(issuer)
    const { issuer: named, jwks_uri: keysAddress } = await get(address)
    if (named !== issuer) throw unusable(address, `is of another issuer, not of '${issuer}'`)
    if (typeof keysAddress !== 'string') throw unusable(address, 'does not say where the keys are (jwks_uri)')
    if (allowHttp && !isSameHost(keysAddress, issuer) && !keysAddress.startsWith('https:'))
      throw unusable(address, 'has the keys at an address that is not encrypted')
    const keys = await get(keysAddress)
    if (!Array.isArray(keys.keys) || keys.keys.length === 0) throw unusable(keysAddress, 'has no keys')
    return keys as unknown as JSONWebKeySet
  } finally {
    await connections.close()
  }
}

function objectOf(address: string, { status, mediaType, bytes }: Answer): Record<string, unknown> {
  if (status !== 200) throw unusable(address, `answered ${status}`)
  if (!isJson(mediaType ?? '')) throw unusable(address, `answered with '${mediaType ?? 'no type'}', not JSON`)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw unusable(address, 'answered with broken JSON', cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw unusable(address, 'did not answer with a JSON object')
  return value as Record<string, unknown>
}

function isJson(mediaType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(mediaType)
}

function isSameHost(address: string, other: string): boolean {
  return URL.parse(address)?.hostname === URL.parse(other)?.hostname
}

function unusable(address: string, problem: string, cause?: unknown): AppError {
  return new AppError('unavailable', `${address} ${problem}.`, { cause })
}
