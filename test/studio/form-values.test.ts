import { expect, test } from 'vitest'
import { z } from 'zod'
import type { SingleField } from '../../src/core/form/fields.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { filledIn, pathTo, textOf } from '../../src/studio/conversation/form-values.ts'
import { formOf, objectOf } from '../support/form.ts'

/** What a browser would have of the form, by the names of its controls. */
function given(schema: JsonObject, entries: [string, string][]): Json | undefined {
  const data = new FormData()
  for (const [name, text] of entries) data.append(name, text)
  return filledIn(formOf(schema), 'answer', true, data)
}

test('what is filled in is what zod takes', () => {
  const shape = z.object({
    name: z.string(),
    count: z.int(),
    ratio: z.number().optional(),
    urgent: z.boolean(),
    size: z.enum(['small', 'large']),
    place: z.object({ city: z.string(), zip: z.string().optional() }),
    tags: z.array(z.number()),
  })
  const value = given(z.toJSONSchema(shape) as unknown as JsonObject, [
    ['answer/name', 'Ann'],
    ['answer/count', '3'],
    ['answer/ratio', ''],
    ['answer/urgent', 'false'],
    ['answer/size', '1'],
    ['answer/place/city', 'Bern'],
    ['answer/place/zip', ''],
    ['answer/tags', '1'],
    ['answer/tags', '2.5'],
  ])
  expect(value).toEqual({
    name: 'Ann',
    count: 3,
    urgent: false,
    size: 'large',
    place: { city: 'Bern' },
    tags: [1, 2.5],
  })
  expect(shape.safeParse(value).success).toBe(true)
})

test('an optional object and an optional list that nobody touched are not sent, needed ones are', () => {
  const schema = objectOf({ a: objectOf({ b: { type: 'string' } }), c: { type: 'array', items: { type: 'string' } } })
  expect(given(schema, [['answer/a/b', '']])).toEqual({})
  expect(given({ ...schema, required: ['a', 'c'] }, [['answer/a/b', '']])).toEqual({ a: {}, c: [] })
})

test('a form of one field gives its value, a date with a time in UTC', () => {
  expect(given({ type: 'integer' }, [['answer', '7']])).toBe(7)
  expect(given({ type: 'integer' }, [['answer', '']])).toBe(undefined)
  const local = '2026-01-31T18:30:00'
  expect(given({ type: 'string', format: 'date-time' }, [['answer', local]])).toBe(new Date(local).toISOString())
})

test('names with a slash are no paths', () => {
  expect(pathTo('a/b', 'answer')).not.toBe(pathTo('b', pathTo('a', 'answer')))
  const text = { type: 'string' } as const
  const value = given(objectOf({ 'a/b': text, a: objectOf({ b: text }) }), [
    [pathTo('a/b', 'answer'), 'one'],
    ['answer/a/b', 'two'],
  ])
  expect(value).toEqual({ 'a/b': 'one', a: { b: 'two' } })
})

test.each<[JsonObject, Json | undefined, string]>([
  [{ type: 'integer' }, 7, '7'],
  [{ type: 'integer' }, undefined, ''],
  [{ type: 'boolean' }, true, 'true'],
  [{ enum: ['x', 2, null] }, 2, '1'],
  [{ enum: ['x', 2, null] }, null, '2'],
  [{ enum: ['x', 2] }, undefined, ''],
  [{ const: 'x' }, undefined, '0'],
  [{ type: 'string', format: 'date' }, '2026-01-31', '2026-01-31'],
  [{ type: 'string', format: 'date-time' }, 'tomorrow', ''],
])('a control for %j begins with %j as %j', (schema, initial, text) => {
  expect(textOf(formOf(schema) as SingleField, initial)).toBe(text)
})

test('a control for a date with a time begins in the time zone of the page', () => {
  const field = formOf({ type: 'string', format: 'date-time' }) as SingleField
  expect(new Date(textOf(field, '2026-01-31T18:30:00Z')).toISOString()).toBe('2026-01-31T18:30:00.000Z')
})
