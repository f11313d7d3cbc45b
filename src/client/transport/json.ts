import { AppError } from '../../core/error.ts'
import { isJsonObject } from '../../core/json.ts'

/** Every answer of the API is a JSON object. */
export function parse<T>(text: string, name: string): T {
  let cause: unknown
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value as T
  } catch (error) {
    cause = error
  }
  throw new AppError('internal', `${name} sent an answer that is no JSON object; is it an agentserve server?`, {
    cause,
  })
}
