import { AppError, invalid, isAppError } from '../../core/error.ts'
import { yieldToLoop } from '../../runtime/yield.ts'

export const maxJsonDepth = 64
export const maxJsonValues = 200_000
/** Each distinct key costs V8 far more than its length. */
export const maxJsonKeys = 25_000

/**
 * Parses untrusted JSON. Depth, values and keys are counted before parsing, so that a hostile document costs no more
 * than its bytes. `__proto__` is refused, and so is `constructor` with a `prototype` in it.
 */
export function parseJson(text: string): unknown {
  // A shorter text can't exceed the limits of depth and values.
  if (text.length > maxJsonDepth) measure(text)
  return parseMeasured(text)
}

/** `parseJson` for megabytes, in more than one turn of the event loop. */
export async function parseLarge(text: string): Promise<unknown> {
  measure(text)
  await yieldToLoop()
  return parseMeasured(text)
}

function parseMeasured(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = `malformed JSON: ${error instanceof Error ? error.message : 'it cannot be parsed'}`
    throw new AppError('invalid_request', `The body is not JSON: ${message}`, { details: [{ path: '', message }] })
  }
  if (mayHoldForbiddenKey(text)) refuseForbiddenKeys(value)
  return value
}

/** Whether the body was not JSON at all, rather than JSON with a wrong value. */
export function isMalformedJson(error: unknown): boolean {
  if (!isAppError(error) || error.code !== 'invalid_request') return false
  return error.details.some(({ path, message }) => path === '' && message.startsWith('malformed JSON'))
}

function measure(text: string): void {
  let depth = 0
  let values = 1
  let keys = 0
  let opened = false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code <= 0x20) continue
    const closes = code === 0x5d || code === 0x7d
    if (opened && !closes) values++
    opened = false
    if (code === 0x22) {
      index = endOfString(text, index)
    } else if (code === 0x5b || code === 0x7b) {
      opened = true
      if (++depth > maxJsonDepth) throw invalid(`The JSON is nested deeper than ${maxJsonDepth} levels.`)
    } else if (closes) {
      depth--
    } else if (code === 0x2c) {
      values++
    } else if (code === 0x3a && ++keys > maxJsonKeys) {
      throw invalid(`The JSON has more than ${maxJsonKeys} keys.`)
    }
    if (values > maxJsonValues) throw invalid(`The JSON has more than ${maxJsonValues} values.`)
  }
}

/** Searches for quotes instead of reading each character, because most of a large document is strings. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === 0x5c) escapes++
    if (escapes % 2 === 0) return at
  }
  return text.length
}

/** True for both names, and for an escape that may spell one of them. */
function mayHoldForbiddenKey(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || text.includes('\\u')
}

function refuseForbiddenKeys(root: unknown): void {
  if (!isContainer(root)) return
  const waiting: { container: Record<string, unknown>; path: string }[] = [{ container: root, path: '' }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { container, path } = next
    for (const key of Object.keys(container)) {
      const child = container[key]
      const pollutes = key === '__proto__' || (key === 'constructor' && hasPrototype(child))
      if (pollutes) throw invalid(`The key '${key}' is not allowed.`, pathTo(path, key))
      if (isContainer(child)) waiting.push({ container: child, path: pathTo(path, key) })
    }
  }
}

function pathTo(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function hasPrototype(value: unknown): boolean {
  return isContainer(value) && Object.hasOwn(value, 'prototype')
}
