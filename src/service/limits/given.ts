import { type AppError, invalid, messageOf } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { isLonger, type Limits, shownBytes } from '../../core/limits.ts'

export type GivenBounds = Pick<Limits, 'metadataBytes' | 'stateBytes'>

interface Given {
  metadata?: JsonObject | null | undefined
  state?: JsonObject | null | undefined
}

/** Throws `invalid_request` for more metadata or state than a caller may send. Stored values may be larger. */
export function checkGiven({ metadata, state }: Given, bounds: GivenBounds): void {
  if (metadata !== undefined && metadata !== null) assertSize('metadata', metadata, bounds.metadataBytes)
  if (state !== undefined && state !== null) assertSize('state', state, bounds.stateBytes)
}

/** The same for a state that is merged over the stored one. */
export function checkMerged(present: JsonObject, given: JsonObject, { stateBytes }: GivenBounds): void {
  const text = JSON.stringify({ ...present, ...given })
  if (isLonger(text, stateBytes))
    throw tooLarge('state', "Merged with the session's stored `state`, it", text, stateBytes)
}

function assertSize(name: 'metadata' | 'state', value: JsonObject, bytes: number): void {
  let text: string
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw invalid(`\`${name}\` is not JSON: ${messageOf(error).split('\n', 1)[0]}.`, name)
  }
  if (isLonger(text, bytes)) throw tooLarge(name, `\`${name}\``, text, bytes)
}

function tooLarge(name: 'metadata' | 'state', subject: string, text: string, bytes: number): AppError {
  const has = shownBytes(Buffer.byteLength(text))
  return invalid(
    `${subject} has ${has} as JSON, and the limit \`${name}\` is ${shownBytes(bytes)}. Send less, or raise \`server.limits.${name}\`.`,
    name,
  )
}
