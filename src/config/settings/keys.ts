import type { z } from 'zod'
import { hashOfKey, isHashedKey } from '../../core/access/api-key.ts'
import { neverOfUsers, type Scope, scopes, scopesOfUsers } from '../../core/access/scope.ts'
import { choose, is, isObject, list, match, oneOf, settings, text } from '../../schema/field.ts'

const apiKey = is<string>(
  "a text of visible ASCII characters, or 'sha256:' and 64 hexadecimal digits",
  (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && isSound(value),
  true,
)

const keySettings = settings(
  {
    /** The key itself, or `sha256:` and its hash in hexadecimal digits. */
    key: apiKey,
    /** The name in logs. */
    id: match(
      "1 to 64 of A-Z a-z 0-9 . _ -, beginning with a letter or digit (and not 'anonymous' or 'server')",
      /^(?!(?:anonymous|server)$)[A-Za-z0-9][\w.-]{0,63}$/,
    ).optional(),
    /** Limits the key to the sessions and runs of this user. */
    userId: text().optional(),
    /** Default: all, or with `userId` those for the user's own sessions and for reading knowledge. */
    scopes: list(oneOf(scopes)).optional(),
  },
  { user_id: 'userId' },
).superRefine(({ userId, scopes = [] }, context) => {
  for (const [index, scope] of userId === undefined ? [] : scopes.entries()) {
    if (!neverOfUsers.includes(scope)) continue
    const message = `is '${scope}', which a key with userId can't have: it is about all users`
    context.addIssue({ code: 'custom', path: ['scopes', index], message })
  }
})
export interface KeySettings extends z.input<typeof keySettings> {}
type Key = z.ZodType<KeySettings | string, KeySettings | string>

export interface ResolvedKey {
  key: string
  id: string
  userId: string | undefined
  /** Undefined: all. */
  scopes: readonly Scope[] | undefined
}

/** `server.auth.keys`. Keys without user and scopes are an operator's and may do everything. */
export const authKeys: z.ZodType<ResolvedKey[], (KeySettings | string)[]> = list(
  choose((value): Key => (isObject(value) ? keySettings : apiKey)),
)
  .transform((keys): ResolvedKey[] =>
    keys.map((given, index) => {
      const { key, id = `key:${index}`, userId, scopes } = typeof given === 'string' ? { key: given } : given
      return { key, id, userId, scopes: scopes ?? (userId === undefined ? undefined : scopesOfUsers) }
    }),
  )
  .superRefine(refuseTwice)

/** Duplicate keys would have ambiguous rights, and duplicate ids identify nothing. */
function refuseTwice(keys: readonly ResolvedKey[], context: z.RefinementCtx): void {
  const seen = new Map<string, string>()
  const complain = (path: PropertyKey[], message: string) => context.addIssue({ code: 'custom', path, message })
  for (const [index, { key, id, userId, scopes }] of keys.entries()) {
    const rights = JSON.stringify([userId, scopes && [...new Set(scopes)].sort()])
    const hash = hashOfKey(key).toString('hex')
    if ((seen.get(hash) ?? rights) !== rights) {
      complain([index], 'is in the list before, with other rights: leave one of them out')
    }
    if ((seen.get(`id ${id}`) ?? rights) !== rights) {
      complain([index, 'id'], `is '${id}', the id of a key with other rights: give each its own`)
    }
    seen.set(hash, seen.get(hash) ?? rights)
    seen.set(`id ${id}`, seen.get(`id ${id}`) ?? rights)
  }
}

function isSound(key: string): boolean {
  return !/^sha256:/i.test(key) || isHashedKey(key)
}
