import type { Json } from '../core/json.ts'

/** The value as JSON would carry it; what JSON can't carry becomes its text. */
export function toJson(value: unknown): Json {
  try {
    const text = JSON.stringify(value, (_key, part: unknown) =>
      part instanceof Uint8Array ? `${part.byteLength} bytes` : part,
    )
    return text === undefined ? null : (JSON.parse(text) as Json)
  } catch {
    return String(value)
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error)
}
