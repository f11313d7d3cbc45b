import { expect, test } from 'vitest'
import { type Arguments, GivenArguments, schemaOf } from '../../src/mcp/arguments.ts'

const takes: Arguments = {
  message: { type: 'text', most: 5, required: true, description: 'What to ask.' },
  word: { type: 'text', most: 5, pattern: /^[a-z]+$/, says: 'must be letters', description: 'A word.' },
  limit: { type: 'integer', from: 1, to: 9, description: 'How many.' },
  approved: { type: 'flag', description: 'Whether.' },
  input: { type: 'anything', description: 'An answer.' },
}

test('the schema of a tool names types, limits and what is required', () => {
  expect(schemaOf(takes)).toEqual({
    type: 'object',
    properties: {
      message: { type: 'string', minLength: 1, maxLength: 5, description: 'What to ask.' },
      word: { type: 'string', minLength: 1, maxLength: 5, pattern: '^[a-z]+$', description: 'A word.' },
      limit: { type: 'integer', minimum: 1, maximum: 9, description: 'How many.' },
      approved: { type: 'boolean', description: 'Whether.' },
      input: { description: 'An answer.' },
    },
    required: ['message'],
  })
})

test('arguments are read by their types, and unknown ones and null are left out', () => {
  const given = new GivenArguments(takes, { message: 'hi', limit: null, approved: false, input: null, more: 1 })
  expect(given.text('message')).toBe('hi')
  expect(given.integer('limit')).toBeUndefined()
  expect(given.flag('approved')).toBe(false)
  expect(given.anything('input')).toBeNull()
  expect(given.anything('more')).toBeUndefined()
})

test.each([
  [undefined, '`message` is required.'],
  [[], 'The arguments must be an object.'],
  ['text', 'The arguments must be an object.'],
  [{ message: null }, '`message` is required.'],
  [{ message: 7 }, '`message` must be a string.'],
  [{ message: ' \n' }, '`message` must not be empty.'],
  [{ message: 'long text' }, '`message` must have at most 5 characters.'],
  [{ message: 'a', word: 'A' }, '`word` must be letters.'],
  [{ message: 'a', limit: 1.5 }, '`limit` must be an integer from 1 to 9.'],
  [{ message: 'a', limit: 1e300 }, '`limit` must be an integer from 1 to 9.'],
  [
    { limit: '3', approved: 'yes' },
    '`message` is required. `limit` must be an integer from 1 to 9. `approved` must be true or false.',
  ],
])('%j is refused', (given, message) => {
  expect(() => new GivenArguments(takes, given)).toThrow(message)
})

test('what an object inherits is not given', () => {
  const inherited = { constructor: { type: 'anything', description: 'x' } } as unknown as Arguments
  expect(new GivenArguments(inherited, {}).anything('constructor')).toBeUndefined()
})
