import type { HttpRequest } from '../../http/request.ts'
import { assertScopes } from '../../http/security/scope.ts'

/** Whether `include=prompts` asks for the exact prompts; throws `forbidden` when the caller may not see them. */
export function wantsPrompts(request: HttpRequest, include: 'prompts' | undefined): boolean {
  if (include !== 'prompts') return false
  assertScopes(request.scopes, 'prompts')
  return true
}

/** Whether the caller's key may see exact prompts. */
export function maySeePrompts({ scopes }: HttpRequest): boolean {
  return scopes?.has('prompts') !== false
}
