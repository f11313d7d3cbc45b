import { AppError } from '../../core/error.ts'
import { isJsonObject } from '../../core/json.ts'

/** Every answer of the API is a JSON object. */
export function parse<T>(text: string, name: string): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new AppError('internal', `${name} sent an answer that is not JSON; is it an agentserve server?`, { cause })
  }
  if (isJsonObject(value)) return value as T
  throw new AppError('internal', `${name} sent JSON that is not an object; is it an agentserve server?`)
}
