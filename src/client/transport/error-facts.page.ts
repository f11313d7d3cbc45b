import type { AppErrorOptions } from '../../core/error.ts'

/** What `error-facts.ts` is in the studio, which decides by code and status and shows the message. */
export function factsOf(): AppErrorOptions {
  return {}
}
