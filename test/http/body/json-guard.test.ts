import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  isMalformedJson,
  maxJsonDepth,
  maxJsonKeys,
  maxJsonValues,
  parseJson,
} from '../../../src/http/body/json-guard.ts'

const thrown = (text: string): unknown => {
  try {
    parseJson(text)
  } catch (error) {
    return error
  }
  return undefined
}

/** The same rules, said over the parsed value. */
function isAllowed(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === maxJsonDepth) return false
  return Object.entries(value).every(([key, child]) => {
    if (key === '__proto__') return false
    if (key === 'constructor' && typeof child === 'object' && child !== null && Object.hasOwn(child, 'prototype'))
      return false
    return isAllowed(child, depth + 1)
  })
}

const key = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'prototype', 'a"b', '\\', '[', '}'))
const { value: anyJson } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, '[[[', '"', '\\"'),
    fc.array(tie('value')),
    // Built by hand: an object literal would take `__proto__` as its prototype.
    fc.array(fc.tuple(key, tie('value'))).map((pairs) => Object.assign(Object.create(null), Object.fromEntries(pairs))),
  ),
}))

describe('JSON from outside', () => {
  test('is refused exactly when a reference over the parsed value refuses it', () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(0, 2), fc.boolean(), (value, indent, escaped) => {
        const plain = JSON.stringify(value, undefined, indent)
        const text = escaped ? plain.replaceAll('_', '\\u005f').replaceAll('constr', '\\u0063onstr') : plain
        const error = thrown(text)
        expect(error === undefined).toBe(isAllowed(JSON.parse(text)))
        if (error === undefined) expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('may be %s nested 64 times, not 65', (open, close) => {
    const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`
    expect(thrown(nested(maxJsonDepth))).toBeUndefined()
    expect(thrown(nested(maxJsonDepth + 1))).toMatchObject({ code: 'invalid_request' })
    expect(thrown(open.repeat(1_000_000))).toMatchObject({ code: 'invalid_request' })
  })

  test('may have 200,000 values, empty containers counted as one each', () => {
    const list = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(', ')}]`
    for (const item of ['1', '{}', '[ ]', '"a,[b"']) {
      expect(thrown(list(maxJsonValues - 1, item))).toBeUndefined()
      expect(thrown(list(maxJsonValues, item))).toMatchObject({ code: 'invalid_request' })
    }
    expect(thrown(list(maxJsonValues / 2, '{"a":1}'))).toMatchObject({ code: 'invalid_request' })
  })

  test.each(['{', '', '{"a":1,}', "{'a':1}", 'undefined', '[1 2]', '"\n"', '\u0000'])(
    'is known as malformed: %j',
    (text) => {
      expect(isMalformedJson(thrown(text))).toBe(true)
    },
  )

  test.each(['{"__proto__":1}', `${'['.repeat(65)}${']'.repeat(65)}`])('is not taken for malformed: %s', (text) => {
    expect(isMalformedJson(thrown(text))).toBe(false)
    expect(thrown(text)).toBeDefined()
  })

  test('names the path of a forbidden key', () => {
    expect(thrown('{"a":[{"\\u005f_proto__":{}}]}')).toMatchObject({ details: [{ path: 'a.0.__proto__' }] })
    expect(thrown('{"constructor":{"prototype":1}}')).toMatchObject({ details: [{ path: 'constructor' }] })
    expect(parseJson('{"constructor":"x","b":"__proto__"}')).toEqual({ constructor: 'x', b: '__proto__' })
  })
})

test('JSON with more keys than are allowed is refused, whatever its size', () => {
  const keys = (count: number) => `{${Array.from({ length: count }, (_, index) => `"k${index}":"a:b"`).join()}}`
  expect(thrown(keys(maxJsonKeys))).toBeUndefined()
  expect(thrown(keys(maxJsonKeys + 1))).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('25000 keys'),
  })
})
