import { AppError, isAppError } from '../../core/error.ts'
import type { PushConfig, PushVersion } from '../../core/push.ts'
import { type AddressRules, assertReachable, checkedUrl } from '../../runtime/public-network.ts'

const maxUrlCharacters = 2_048
const maxSecretCharacters = 4_096
const idPattern = /^[A-Za-z0-9._:~-]{1,128}$/
/** RFC 9110, 11.1. */
const schemePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/
const visible = /^[\x20-\x7e]*$/

export interface PushSettings extends Pick<AddressRules, 'allowHttp' | 'allowPrivate' | 'network'> {
  /** Host names; empty: all. */
  hosts: readonly string[]
  /** Configs of one run. */
  configs: number
  timeoutMs: number
}

/** What a caller gives for a config. */
export interface NotificationTarget {
  /** Default: the run's. */
  id?: string | undefined
  url: string
  token?: string | undefined
  authentication?: { scheme: string; credentials?: string | undefined } | undefined
  version: PushVersion
}

/** A config as callers see it: without what authenticates notifications. */
export type ShownTarget = Pick<PushConfig, 'run_id' | 'config_id' | 'url' | 'version' | 'created_at'> & {
  scheme: string | null
}

/** Throws `invalid_request` with the field that is wrong. */
export async function checkTarget(target: NotificationTarget, settings: PushSettings): Promise<void> {
  const { id, url, token, authentication } = target
  if (id !== undefined && !idPattern.test(id)) throw wrong('id', 'must be 1 to 128 of A-Z a-z 0-9 . _ : ~ -')
  if (token !== undefined) checkSecret('token', token)
  if (authentication !== undefined) {
    if (!schemePattern.test(authentication.scheme)) {
      throw wrong('authentication.scheme', "must be the name of a scheme such as 'Bearer'")
    }
    if (authentication.credentials !== undefined) checkSecret('authentication.credentials', authentication.credentials)
  }
  if (url.length > maxUrlCharacters) throw wrong('url', `must have at most ${maxUrlCharacters} characters`)
  try {
    const parsed = checkedUrl(url, settings)
    if (parsed.username !== '' || parsed.password !== '') {
      throw wrong('url', 'must have no user and no password; give authentication instead')
    }
    if (!isListed(parsed, settings)) throw wrong('url', 'names a host that this server does not notify')
    await assertReachable(parsed, settings)
  } catch (error) {
    if (!isAppError(error) || error.details.length > 0) throw error
    throw new AppError('invalid_request', `url: ${error.message}`, {
      details: [{ path: 'url', message: error.message }],
    })
  }
}

export function isListed({ hostname }: URL, { hosts }: Pick<PushSettings, 'hosts'>): boolean {
  return hosts.length === 0 || hosts.includes(hostname)
}

function checkSecret(path: string, value: string): void {
  if (value.length <= maxSecretCharacters && visible.test(value)) return
  throw wrong(path, `must be at most ${maxSecretCharacters} visible ASCII characters`)
}

function wrong(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })
}
