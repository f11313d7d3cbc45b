import { AppError, messageOf } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'

/** The value as JSON; parts that JSON can't carry become text. */
export function toJson(value: unknown): Json {
  try {
    const text = jsonText(value)
    return text === undefined ? null : (JSON.parse(text) as Json)
  } catch {
    return messageOf(value)
  }
}

/** The JSON of a value, bytes as their count; undefined for a value without JSON. Throws for cycles and the like. */
export function jsonText(value: unknown): string | undefined {
  return JSON.stringify(value, function (this: Record<string, unknown>, key, part: unknown) {
    // `part` is already converted by the Buffer's own `toJSON`.
    const original = this[key]
    return original instanceof Uint8Array ? `${original.byteLength} bytes` : part
  })
}

type Callable = (...args: never[]) => unknown

export type Journaled<T> = unknown extends T
  ? T
  : // biome-ignore lint/suspicious/noConfusingVoidType: a step may give nothing
    [T] extends [Json | undefined | void]
    ? T
    : T extends Json | undefined
      ? T
      : T extends { toJSON(): infer JSON }
        ? Journaled<JSON>
        : T extends readonly unknown[]
          ? { [KEY in keyof T]: Journaled<T[KEY]> }
          : T extends object
            ? { [KEY in keyof T as T[KEY] extends Callable ? never : KEY]: Journaled<T[KEY]> }
            : never

/** The value as JSON. Throws `run_failed` for a value that JSON would change: bytes, maps, sets, cycles. */
export function toJournal(subject: string, value: unknown): Json | undefined {
  return toExactJson(value, (why) => `${subject} returned a value that can't be recorded: ${why}.`)
}

/** The same; `explain` makes the error's message. */
export function toExactJson(value: unknown, explain: (why: string) => string): Json | undefined {
  if (value === undefined) return undefined
  try {
    const text = JSON.stringify(value, (_key, part: unknown) => {
      if (ArrayBuffer.isView(part) || part instanceof Map || part instanceof Set || part instanceof ArrayBuffer) {
        throw new TypeError(`${part.constructor.name} is not JSON`)
      }
      return part
    })
    return text === undefined ? undefined : (JSON.parse(text) as Json)
  } catch (cause) {
    throw new AppError('run_failed', explain(messageOf(cause)), { cause })
  }
}

/** The session's state as JSON; errors name the step that changed it. */
export function textOfState(state: object, step: string): string {
  try {
    return JSON.stringify(state)
  } catch (cause) {
    const message = `The session's state after step '${step}' is not JSON: ${messageOf(cause)}.`
    throw new AppError('run_failed', message, { cause })
  }
}
