import { type Access, type Scope, scopesOf } from '../../core/access/scope.ts'
import { AppError } from '../../core/error.ts'

type Granted = ReadonlySet<Scope> | undefined

/** Throws `forbidden` with the name of what is missing. */
export function assertScopes(granted: Granted, needed: Access): void {
  if (granted === undefined) return
  if (needed === 'operator') throw notOperator()
  const lacking = scopesOf(needed).map((scopes) => scopes.find((scope) => !granted.has(scope)))
  if (!lacking.includes(undefined)) throw lacks(lacking as Scope[])
}

function notOperator(): AppError {
  return new AppError('forbidden', "This needs an operator's key, one without `userId` and `scopes`. Use such a key.")
}

function lacks(scopes: readonly Scope[]): AppError {
  const names = scopes.map((scope) => `'${scope}'`).join(' or ')
  return new AppError('forbidden', `Your key does not have the scope ${names}. Use a key that has it.`)
}
