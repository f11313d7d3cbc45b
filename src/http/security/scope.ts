import { type Access, type Scope, scopesOf } from '../../core/access/scope.ts'
import { AppError } from '../../core/error.ts'

type Granted = ReadonlySet<Scope> | undefined

/** Throws `forbidden` with the name of what is missing. `challenge`: how a token with it is got. */
export function assertScopes(granted: Granted, needed: Access, challenge?: () => string): void {
  if (granted === undefined) return
  if (needed === 'operator') throw notOperator(challenge?.())
  const lacking = scopesOf(needed).map((scopes) => scopes.find((scope) => !granted.has(scope)))
  if (!lacking.includes(undefined)) throw lacks(lacking as Scope[], challenge?.())
}

/** Only a token has a challenge. */
function notOperator(challenge: string | undefined): AppError {
  const key = "This needs an operator's key, one without `userId` and `scopes`. Use such a key."
  const token = "This needs an operator's token, one with the scope of `operatorScope`. Use such a token."
  return new AppError('forbidden', challenge === undefined ? key : token, { challenge })
}

function lacks(scopes: readonly Scope[], challenge: string | undefined): AppError {
  const names = scopes.map((scope) => `'${scope}'`).join(' or ')
  const what = challenge === undefined ? 'key' : 'token'
  return new AppError('forbidden', `Your ${what} does not have the scope ${names}. Use a ${what} that has it.`, {
    challenge,
  })
}
