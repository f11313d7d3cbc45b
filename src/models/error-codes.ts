/** Nothing answered. It has neither cause nor code, for which the AI SDK would try again. */
export class NotReached extends Error {}

/** The codes of the error and its causes. A name with several addresses has one cause per address. */
export function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  const causes = error instanceof AggregateError ? error.errors : []
  return [...own, ...[error.cause, ...causes].flatMap(codesOf)]
}
