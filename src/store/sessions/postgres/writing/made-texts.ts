import type { Message } from '../../../../core/message.ts'
import type { RunGiven } from '../../../../core/run.ts'
import { stringifyLarge } from '../../../../runtime/json.ts'
import { messageRows } from '../../rows/rows.ts'
import type { MadeTexts } from './rows.ts'

/** Made in pieces: a transaction may write megabytes. */
export async function madeTexts(messages: readonly Message[], given: RunGiven | null = null): Promise<MadeTexts> {
  const made = new Map<object, string>([[messages, await stringifyLarge(messageRows(messages))]])
  if (given !== null) made.set(given, await stringifyLarge(given))
  return made
}
