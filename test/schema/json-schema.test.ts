import { describe, expect, test } from 'vitest'
import { toAppError } from '../../src/core/error.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { compileJsonSchema } from '../../src/schema/json-schema.ts'

const draft7 = 'http://json-schema.org/draft-07/schema#'

async function wrongIn(schema: JsonObject, value: unknown): Promise<string[]> {
  const check = await compileJsonSchema(schema, 'schema')
  return check(value, 'input').map(({ path, message }) => `${path} ${message}`)
}

async function refusalOf(schema: JsonObject): Promise<string> {
  const refused = await compileJsonSchema(schema, 'schema').then(
    () => undefined,
    (error: unknown) => toAppError(error),
  )
  expect(refused?.code).toBe('invalid_request')
  return refused?.message ?? ''
}

describe('a value is checked against', () => {
  const person = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2 },
      'a/b': { enum: ['x', 'y'] },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['name'],
    additionalProperties: false,
  }

  test.each([
    [person, { name: 'Ann', tags: ['a'] }, []],
    [person, {}, ['input.name is required']],
    [
      person,
      { name: 'A', tags: [1] },
      ['input.name must NOT have fewer than 2 characters', 'input.tags.0 must be string'],
    ],
    [person, { name: 'Ann', 'a/b': 'z', more: 1 }, ['input.more is not allowed', 'input.a/b must be one of "x","y"']],
    [person, 'Ann', ['input must be object']],
    [{ not: { type: 'string' } }, 'a', ['input must NOT be valid']],
    [JSON.parse('{"if":{"minimum":5},"then":{"multipleOf":2}}'), 7, ['input must be multiple of 2']],
    [
      { properties: { a: { type: 'string' } }, dependentRequired: { a: ['b'] } },
      { a: '' },
      ['input must have property b when property a is present'],
    ],
    [{ $ref: '#/$defs/n', maximum: 3, $defs: { n: { type: 'number' } } }, 4, ['input must be <= 3']],
    [{ prefixItems: [{ type: 'number' }], items: false }, [1, 2], ['input must NOT have more than 1 items']],
    [
      { $schema: draft7, items: [{ type: 'number' }], additionalItems: false },
      [1, 2],
      ['input must NOT have more than 1 items'],
    ],
    [{ items: [{ type: 'number' }] }, ['a'], ['input.0 must be number']],
    [
      { definitions: { s: { type: 'string' } }, properties: { a: { $ref: '#/definitions/s' } } },
      { a: 1 },
      ['input.a must be string'],
    ],
    [{ type: ['string', 'null'] }, 1, ['input must be string or null']],
    [{ const: { a: 1 } }, 1, ['input must be {"a":1}']],
    [{ type: 'string', format: 'email' }, 'no address', []],
    [{ 'x-order': 1, title: 'Any' }, 1, []],
    [{ $async: true, required: ['a'] }, {}, ['input.a is required']],
  ] as [JsonObject, unknown, string[]][])('%j: %j', async (schema, value, expected) => {
    expect((await wrongIn(schema, value)).toSorted()).toEqual(expected.toSorted())
  })
})

test.each([
  [{ type: 'strange' }, 'schema.type must be one of'],
  [{ properties: 5 }, 'schema.properties must be object'],
  [{ $ref: '#/nowhere' }, "can't resolve reference"],
  [{ $ref: 'https://example.com/a.json' }, "can't resolve reference"],
  [{ $schema: 'http://json-schema.org/draft-04/schema#' }, 'schema.$schema must be that of'],
  [{ $schema: 5 }, 'schema.$schema must be that of'],
  [{ pattern: '(' }, 'is no usable JSON schema'],
  [{ $defs: { a: { $async: true, type: 'string' } }, $ref: '#/$defs/a' }, 'async schema in sync schema'],
] as [JsonObject, string][])('%j is refused', async (schema, message) => {
  expect(await refusalOf(schema)).toContain(message)
})

test('a pattern that takes for ever is stopped', async () => {
  expect(await wrongIn({ pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`)).toEqual([
    "input can't be checked against its JSON schema: it takes longer than 1000 ms",
  ])
})

test('a schema that contains itself without end is refused or told', async () => {
  const endless = { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }
  expect(await wrongIn(endless, 1)).toEqual(["input can't be checked against its JSON schema: it is too deep"])
})

test('the ids of one schema are unknown to another, and may be those of a draft', async () => {
  const id = 'https://example.com/one'
  const taken = 'https://json-schema.org/draft/2020-12/schema'
  for (const $id of [id, id, taken, draft7]) expect(await wrongIn({ $id, type: 'number' }, 'a')).toHaveLength(1)
  expect(await refusalOf({ $ref: id })).toContain("can't resolve reference")
  expect(await refusalOf({ type: 'strange' })).toContain('schema.type')
})

test('at most 20 mistakes are told', async () => {
  expect(
    await wrongIn(
      { items: { type: 'string' } },
      Array.from({ length: 100 }, (_, index) => index),
    ),
  ).toHaveLength(20)
})
