import type { Json, JsonObject } from '../../core/json.ts'
import { UsageError } from '../command/exit.ts'

/** Merges `key=value` pairs and JSON objects; values that look like numbers, `true` or `false` are converted. */
export function parseMetadata(given: readonly string[] | undefined): JsonObject | undefined {
  if (given === undefined) return undefined
  return Object.assign({}, ...given.map(parseOne)) as JsonObject
}

function parseOne(text: string): JsonObject {
  if (text.trimStart().startsWith('{')) {
    const parsed = parseJson(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed
    throw new UsageError(`--metadata must be key=value or a JSON object, not '${text}'.`)
  }
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--metadata must be key=value or a JSON object, not '${text}'.`)
  const value = text.slice(at + 1)
  const parsed = parseJson(value)
  const scalar = typeof parsed === 'boolean' || typeof parsed === 'number' ? parsed : value
  return { [text.slice(0, at)]: scalar }
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
