/**
 * Resolves when everybody else has had a turn: between two steps with much data. After one immediate, what came in meanwhile
 * may not have been looked at yet.
 */
export function yieldToLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
}
