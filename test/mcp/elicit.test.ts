import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/core/json.ts'
import type { Waiting } from '../../src/core/run.ts'
import { answerOf, formsOf } from '../../src/mcp/elicit.ts'

const question = (schema?: JsonObject): Waiting => ({
  kind: 'input',
  call_id: 'q',
  prompt: 'What?',
  ...(schema && { schema }),
})
const formOf = (schema?: JsonObject) => formsOf([question(schema)])?.[0]

describe('the form of a question', () => {
  test('is its schema when that is flat', () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1, title: 'Name' },
        size: { type: 'string', enum: ['S', 'L'] },
        count: { type: 'integer', minimum: 1 },
        sure: { type: 'boolean', default: false },
      },
      required: ['name'],
      additionalProperties: false,
    }
    const { additionalProperties: _, ...form } = schema
    expect(formOf(schema)).toMatchObject({ asked: { id: 'q', as: 'input' }, form })
  })

  test('has one field for a single value, and for any text', () => {
    expect(formOf({ type: 'number', maximum: 5 })).toMatchObject({
      asked: { as: 'field' },
      form: { properties: { answer: { type: 'number', maximum: 5 } }, required: ['answer'] },
    })
    expect(formOf()).toMatchObject({ asked: { as: 'field' }, form: { properties: { answer: { type: 'string' } } } })
  })

  test.each([
    [{ type: 'array' }],
    [{ type: 'object', properties: { list: { type: 'array' } } }],
    [{ type: 'object', properties: {} }],
    [{ type: 'object', properties: { a: { $ref: '#' } } }],
    [{ anyOf: [{ type: 'string' }] }],
    [{ type: 'string', pattern: '(a+)+$' }],
    [{ type: 'string', format: 'password' }],
    [{ type: ['string', 'null'] }],
    [{ type: 'object', properties: { a: { type: 'string' } }, dependentRequired: {} }],
  ])('is none for %j', (schema) => {
    expect(formOf(schema as JsonObject)).toBeUndefined()
  })

  test('is none when another request of the run has none', () => {
    expect(formsOf([question(), { kind: 'tool', call_id: 't', prompt: 'Execute it.' }])).toBeUndefined()
  })
})

describe('what a person reads', () => {
  const approval = (prompt: string, data?: Waiting['data']): string =>
    formsOf([{ kind: 'approval', call_id: 'a', prompt, ...(data !== undefined && { data }) }])?.[0]?.message ?? ''

  test('has the whole data, or says that it is elsewhere', () => {
    expect(approval('Pay?', { euros: 1 })).toBe('Pay?\n\n{\n  "euros": 1\n}')
    expect(approval('Pay?', { text: 'x'.repeat(5000) })).toMatch(/^Pay\?\n\nThe data has \d+ characters: see the run/)
  })

  test('has no characters that hide or turn around a part of it', () => {
    expect(approval('Pay\u001b[8m\u202e now?\r\tYes\n')).toBe('Pay\ufffd[8m\ufffd now?\ufffd\tYes\n')
  })
})

test('a request without a call_id is answered for the whole run', () => {
  const [form] = formsOf([{ kind: 'input', prompt: 'What?' }]) ?? []
  const asked = form === undefined ? [] : [form.asked]
  expect(answerOf(asked, () => ({ kind: 'elicit', action: 'accept', content: { answer: 'this' } }))).toEqual({
    input: 'this',
  })
  expect(answerOf(asked, () => ({ kind: 'elicit', action: 'decline' }))).toBeUndefined()
  expect(answerOf(asked, () => ({ kind: 'missing' }))).toBeUndefined()
})
