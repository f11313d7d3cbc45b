import { type Access, type Scope, scopesOf } from '../../core/access/scope.ts'
import { AppError } from '../../core/error.ts'

type Granted = ReadonlySet<Scope> | undefined

/** Throws `forbidden` with the name of the missing scope. */
export function assertScopes(granted: Granted, needed: Access): void {
  if (granted === undefined) return
  for (const scope of scopesOf(needed)) if (!granted.has(scope)) throw lacks(scope)
}

function lacks(scope: Scope): AppError {
  return new AppError('forbidden', `Your key does not have the scope '${scope}'. Use a key that has it.`)
}
