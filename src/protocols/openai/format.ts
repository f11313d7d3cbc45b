import type { JsonObject } from '../../core/json.ts'
import { field, isFields, wrong } from '../fields.ts'
import { unsupported } from './error.ts'

/**
 * The JSON schema of the answer that `response_format` of chat completions or `text.format` of responses asks for; undefined for
 * text. `param`: which of them, for errors. `json_object` is any JSON object.
 */
export function readFormat(format: unknown, param: string): JsonObject | undefined {
  if (format === undefined || format === null) return undefined
  if (!isFields(format) || typeof format.type !== 'string') throw wrong(param, 'an object with a type')
  if (format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'object' }
  if (format.type !== 'json_schema') {
    throw unsupported(`${param}.type must be 'text', 'json_object' or 'json_schema'.`, `${param}.type`)
  }
  const inner = field(format, 'json_schema')
  const [about, at] = isFields(inner) ? [inner, `${param}.json_schema`] : [format, param]
  const schema = field(about, 'schema')
  if (!isFields(schema)) throw wrong(`${at}.schema`, 'a JSON schema')
  return schema as JsonObject
}
