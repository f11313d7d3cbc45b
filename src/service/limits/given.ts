import { type AppError, invalid, messageOf } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import { isLonger, type Limits, shownBytes } from '../../core/limits.ts'
import type { RunGiven } from '../../core/run.ts'

export type GivenBounds = Pick<Limits, 'metadataBytes' | 'stateBytes'>

const maxSchemaBytes = 64 * 1024
const maxEchoBytes = 256 * 1024

interface Given {
  metadata?: JsonObject | null | undefined
  state?: JsonObject | null | undefined
}

/** Throws `invalid_request` for more metadata or state than a caller may send. Stored values may be larger. */
export function checkGiven({ metadata, state }: Given, bounds: GivenBounds): void {
  if (metadata !== undefined && metadata !== null) assertSize('metadata', metadata, bounds.metadataBytes)
  if (state !== undefined && state !== null) assertSize('state', state, bounds.stateBytes)
}

/** The same for the history and the schema of a run. */
export function checkCallersGiven(
  { history, output_schema, protocol }: RunGiven,
  { history: bounds }: Pick<Limits, 'history'>,
): void {
  if (history !== undefined && history.length > bounds.messages) {
    throw invalid(
      `\`history\` has ${history.length} messages, and the limit \`history.messages\` is ${bounds.messages}. Send fewer, or raise \`server.limits.history.messages\`.`,
      'history',
    )
  }
  if (history !== undefined) assertSize('history', history, bounds.sizeBytes, 'history.size')
  if (protocol !== undefined) assertFits('protocol', protocol.echo, maxEchoBytes)
  if (output_schema !== undefined) assertFits('output_schema', output_schema, maxSchemaBytes)
}

/** Of what has no setting. */
function assertFits(name: string, value: JsonObject, most: number): void {
  const text = JSON.stringify(value)
  if (!isLonger(text, most)) return
  const has = shownBytes(Buffer.byteLength(text))
  throw invalid(`\`${name}\` has ${has} as JSON, and may have ${shownBytes(most)}. Send a smaller one.`, name)
}
/** The same for a state that is merged over the stored one. */
export function checkMerged(present: JsonObject, given: JsonObject, { stateBytes }: GivenBounds): void {
  const text = JSON.stringify({ ...present, ...given })
  if (isLonger(text, stateBytes))
    throw tooLarge('state', "Merged with the session's stored `state`, it", text, stateBytes)
}

function assertSize(name: string, value: object, bytes: number, limit = name): void {
  let text: string
  try {
    text = JSON.stringify(value)
  } catch (error) {
    throw invalid(`\`${name}\` is not JSON: ${messageOf(error).split('\n', 1)[0]}.`, name)
  }
  if (isLonger(text, bytes)) throw tooLarge(name, `\`${name}\``, text, bytes, limit)
}

function tooLarge(name: string, subject: string, text: string, bytes: number, limit = name): AppError {
  const has = shownBytes(Buffer.byteLength(text))
  return invalid(
    `${subject} has ${has} as JSON, and the limit \`${limit}\` is ${shownBytes(bytes)}. Send less, or raise \`server.limits.${limit}\`.`,
    name,
  )
}
