import { hashOfKey, isHashedKey } from '../../core/access/api-key.ts'
import { type Scope, scopes } from '../../core/access/scope.ts'
import { type Check, type Complain, fields, is, isPlain, listOf, oneOf } from './check.ts'

/** A key with a name, a user or scopes. */
export interface KeySettings {
  /** The key, or `sha256:` and its hash in hexadecimal digits. */
  key: string
  /** What the log calls it. */
  id?: string
  /** The user whose sessions and runs are all that it may see. */
  userId?: string
  /** What it may do. Default: all, or with `userId` what is about the user's own sessions and reads knowledge. */
  scopes?: Scope[]
}

/** A key, everything about it decided. */
export interface ResolvedKey {
  key: string
  id: string
  userId: string | undefined
  /** Undefined: all. */
  scopes: readonly Scope[] | undefined
}

const scopesOfUsers: readonly Scope[] = ['run', 'sessions', 'knowledge:read']
/** About everybody's data, whoever asks. */
const neverOfUsers: readonly Scope[] = ['admin', 'metrics']

export const apiKey = is(
  "a text of visible ASCII characters, or 'sha256:' and 64 hexadecimal digits",
  (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && isSound(value),
  true,
)
const keyId = is(
  "1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit, and not 'anonymous'",
  (value) => typeof value === 'string' && /^[A-Za-z0-9][\w.-]{0,63}$/.test(value) && value !== 'anonymous',
)
const userId = is('a text that is not empty', (value) => typeof value === 'string' && value.trim() !== '')
const keySettings = fields({ key: apiKey, id: keyId, userId, scopes: listOf(oneOf(...scopes)) }, { user_id: 'userId' })

/** `server.auth.keys`. */
export const authKeys: Check = (value, key, complain) => {
  let sound = true
  listOf(authKey)(value, key, (path, message) => {
    sound = false
    complain(path, message)
  })
  if (sound) refuseTwice(resolveKeys(value as (string | KeySettings)[]), key, complain)
}

const authKey: Check = (value, key, complain) => {
  if (!isPlain(value)) return apiKey(value, key, complain)
  keySettings(value, key, complain)
  if (value.key === undefined) complain(`${key}.key`, 'is missing')
  if (value.userId === undefined || !Array.isArray(value.scopes)) return
  for (const [index, scope] of value.scopes.entries()) {
    if (!neverOfUsers.includes(scope)) continue
    complain(`${key}.scopes.${index}`, `is '${scope}', which a key with userId can't have: it is about all users`)
  }
}

/** One key with two rights would have those that happen to come first; one id for two is no name. */
function refuseTwice(keys: readonly ResolvedKey[], key: string, complain: Complain): void {
  const seen = new Map<string, string>()
  for (const [index, { key: text, id, userId, scopes }] of keys.entries()) {
    const rights = JSON.stringify([userId, scopes && [...new Set(scopes)].sort()])
    const hash = hashOfKey(text).toString('hex')
    if ((seen.get(hash) ?? rights) !== rights) {
      complain(`${key}.${index}`, 'is a key that is in the list before, with other rights: leave one of them')
    }
    if ((seen.get(`id ${id}`) ?? rights) !== rights) {
      complain(`${key}.${index}.id`, `is '${id}', as of a key with other rights: give each its own`)
    }
    seen.set(hash, seen.get(hash) ?? rights)
    seen.set(`id ${id}`, seen.get(`id ${id}`) ?? rights)
  }
}

/** With all that is not said. Keys without user and scopes are an operator's: they may do everything. */
export function resolveKeys(keys: readonly (string | KeySettings)[]): ResolvedKey[] {
  return keys.map((given, index) => {
    const { key, id = `key:${index}`, userId, scopes } = typeof given === 'string' ? { key: given } : given
    return { key, id, userId, scopes: scopes ?? (userId === undefined ? undefined : scopesOfUsers) }
  })
}

function isSound(key: string): boolean {
  return !/^sha256:/i.test(key) || isHashedKey(key)
}
