import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { answerOf } from '../../src/core/form/answer.ts'
import { fieldOf } from '../../src/core/form/fields.ts'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { formOf, objectOf } from '../support/form.ts'

/** What comes of a text: the value, or what is wrong with it. */
function fill(schema: JsonObject, text: string): { value: Json } | { problem: string } {
  const field = formOf(schema)
  if (field.kind === 'object' || field.kind === 'list') throw new Error('not a single field')
  return answerOf(field, text)
}

describe('a form of a schema', () => {
  test.each<[string, JsonObject]>([
    ['a choice between schemas', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['a reference', { $ref: '#/$defs/a' }],
    ['lists of objects', { type: 'array', items: objectOf({ a: { type: 'string' } }) }],
    ['names that are not known', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a required field that is not described', objectOf({ a: { type: 'string' } }, ['b'])],
    ['two types', { type: ['string', 'null'] }],
    ['no type', {}],
    ['one inside', objectOf({ a: { not: { type: 'string' } } })],
  ])('is not there for %s', (_what, schema) => {
    expect(fieldOf(schema)).toBeUndefined()
  })

  test('is there for what zod makes of an object', () => {
    const shape = z.object({
      name: z.string().min(2),
      count: z.int().min(1).max(9),
      urgent: z.boolean(),
      size: z.enum(['small', 'large']).default('small'),
      place: z.object({ city: z.string() }),
      tags: z.array(z.string()).max(2),
    })
    const form = formOf(z.toJSONSchema(shape) as unknown as JsonObject)
    const fields = form.kind === 'object' ? form.fields : []
    expect(fields.map(({ name, isRequired, field }) => [name, isRequired, field.kind])).toEqual([
      ['name', true, 'text'],
      ['count', true, 'number'],
      ['urgent', true, 'boolean'],
      ['size', true, 'choice'],
      ['place', true, 'object'],
      ['tags', true, 'list'],
    ])
    expect(fields[1]?.field).toMatchObject({ isInteger: true, min: 1, max: 9 })
    expect(fields[3]?.field).toMatchObject({ options: ['small', 'large'], initial: 'small' })
    expect(fields[5]?.field).toMatchObject({ item: { kind: 'text' }, minItems: 0, maxItems: 2 })
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
    expect(fill(schema, text)).toEqual({ problem })
  })

  test('a multiple that is only nearly one counts, and a pattern that no browser reads is left alone', () => {
    expect(fill({ type: 'number', multipleOf: 0.1 }, '0.3')).toEqual({ value: 0.3 })
    expect(fill({ type: 'string', pattern: '(' }, 'x')).toEqual({ value: 'x' })
  })
})
