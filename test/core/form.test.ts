import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { answerOf, type Draft, draftOf } from '../../src/core/form/answer.ts'
import { type Field, fieldOf } from '../../src/core/form/fields.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'

const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
})

function formOf(schema: JsonObject): Field {
  const field = fieldOf(schema)
  if (field === undefined) throw new Error('no form')
  return field
}

/** What comes of a draft: the value, or what is wrong by path. */
function fill(schema: JsonObject, draft: Draft): Json {
  const answer = answerOf(formOf(schema), draft)
  return 'value' in answer ? answer.value : Object.fromEntries(answer.problems)
}

describe('a form of a schema', () => {
  test.each<[string, JsonObject]>([
    ['a choice between schemas', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['a reference', { $ref: '#/$defs/a' }],
    ['lists of objects', { type: 'array', items: object({ a: { type: 'string' } }) }],
    ['names that are not known', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a required field that is not described', object({ a: { type: 'string' } }, ['b'])],
    ['two types', { type: ['string', 'null'] }],
    ['no type', {}],
    ['one inside', object({ a: { not: { type: 'string' } } })],
  ])('is not there for %s', (_what, schema) => {
    expect(fieldOf(schema)).toBeUndefined()
  })

  test('is there for what zod makes of an object, and gives what zod takes', () => {
    const shape = z.object({
      name: z.string().min(2),
      count: z.int().min(1).max(9),
      ratio: z.number().optional(),
      urgent: z.boolean(),
      size: z.enum(['small', 'large']).default('small'),
      place: z.object({
        city: z.string(),
        zip: z
          .string()
          .regex(/^\d{5}$/)
          .optional(),
      }),
      tags: z.array(z.string()).max(2),
      day: z.iso.date().optional(),
    })
    const { day: _day, ...properties } = (z.toJSONSchema(shape) as unknown as { properties: JsonObject }).properties
    const schema = object({ ...properties, day: { type: 'string', format: 'date' } }, [
      ...['name', 'count', 'urgent', 'size', 'place', 'tags'],
    ])
    const draft = draftOf(formOf(schema)) as { [name: string]: Draft }
    expect(draft).toEqual({
      name: '',
      count: '',
      ratio: '',
      urgent: '',
      size: '0',
      place: { city: '', zip: '' },
      tags: [],
      day: '',
    })
    const filled = { ...draft, name: 'Ann', count: '3', urgent: 'false', tags: ['a'], place: { city: 'Bern', zip: '' } }
    const value = fill(schema, filled)
    expect(value).toEqual({
      name: 'Ann',
      count: 3,
      urgent: false,
      size: 'small',
      place: { city: 'Bern' },
      tags: ['a'],
    })
    expect(shape.safeParse(value).success).toBe(true)
  })

  test('begins with the defaults, also those of a whole object and a list', () => {
    const schema = {
      ...object({
        a: { type: 'integer' },
        b: { type: 'boolean', default: true },
        c: { enum: ['x', 2, null], default: 2 },
      }),
      default: { a: 7 },
    }
    expect(draftOf(formOf(schema))).toEqual({ a: '7', b: 'true', c: '1' })
    expect(draftOf(formOf({ type: 'array', items: { type: 'string' }, default: ['x'], minItems: 2 }))).toEqual([
      'x',
      '',
    ])
  })
})

describe('what is wrong is said in words', () => {
  test.each<[JsonObject, string, string]>([
    [{ type: 'integer' }, '1.5', 'This must be a whole number.'],
    [{ type: 'number' }, 'one', 'This is not a number.'],
    [{ type: 'number' }, ' ', 'This is not a number.'],
    [{ type: 'number', minimum: 1 }, '0', 'This must be at least 1.'],
    [{ type: 'number', maximum: 1 }, '2', 'This must be at most 1.'],
    [{ type: 'number', exclusiveMinimum: 1 }, '1', 'This must be more than 1.'],
    [{ type: 'number', exclusiveMaximum: 1 }, '1', 'This must be less than 1.'],
    [{ type: 'number', multipleOf: 0.1 }, '0.25', 'This must be a multiple of 0.1.'],
    [{ type: 'string', minLength: 2 }, '😀', 'At least 2 characters are needed.'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'At most 1 characters are possible.'],
    [{ type: 'string', pattern: '^a$' }, 'b', 'This must match ^a$'],
    [{ type: 'string', format: 'date' }, 'tomorrow', 'This is not a date, like 2026-01-31.'],
    [{ type: 'string', format: 'date-time' }, 'x', 'This is not a date with a time.'],
    [{ type: 'boolean' }, '', 'Fill this in.'],
    [{ enum: ['a', 'b'] }, '', 'Fill this in.'],
  ])('%j with %j', (schema, text, problem) => {
    expect(fill(schema, text)).toEqual({ '': problem })
  })

  test('at its field, by the path, for all of them at once', () => {
    const schema = object(
      { a: object({ b: { type: 'integer' } }, ['b']), c: { type: 'array', items: { type: 'number' }, minItems: 3 } },
      ['a', 'c'],
    )
    expect(fill(schema, { a: { b: 'x' }, c: ['1', '', 'y'] })).toEqual({
      'a.b': 'This is not a number.',
      'c.1': 'Fill this in.',
      'c.2': 'This is not a number.',
    })
    expect(fill(schema, { a: { b: '' }, c: [] })).toEqual({
      'a.b': 'Fill this in.',
      c: 'At least 3 entries are needed.',
    })
  })

  test('a multiple that is only nearly one counts, and a pattern that no browser reads is left alone', () => {
    expect(fill({ type: 'number', multipleOf: 0.1 }, '0.3')).toBe(0.3)
    expect(fill({ type: 'string', pattern: '(' }, 'x')).toBe('x')
  })

  test('an optional object that nobody touched is not sent, and one that was begun must be whole', () => {
    const schema = object({ a: object({ b: { type: 'string' }, c: { type: 'string' } }, ['b']) })
    expect(fill(schema, { a: { b: '', c: '' } })).toEqual({})
    expect(fill(schema, { a: { b: '', c: 'x' } })).toEqual({ 'a.b': 'Fill this in.' })
  })
})
