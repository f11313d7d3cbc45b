import { describe, expect, test } from 'vitest'
import { AppError } from '../../src/core/error.ts'
import { checkSettings } from '../../src/schema/check.ts'
import { choose, duration, flag, integer, isObject, list, settings, text, textByName } from '../../src/schema/field.ts'

const inner = settings({ limit: integer(1, 9).default(6), wait: duration().optional() })
const schema = settings(
  {
    name: text().optional(),
    testDoubles: inner.optional(),
    key: text(undefined, true).optional(),
    env: textByName().optional(),
    either: choose((value) => (isObject(value) ? inner : flag()) as typeof inner).optional(),
    names: list(text()).optional(),
  },
  { standIns: 'testDoubles' },
)

function mistakesOf(value: unknown): string[] {
  try {
    checkSettings('agent()', schema, value)
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return (error as AppError).message.split('\n')
  }
  return []
}

describe('checkSettings', () => {
  test('fills in defaults and gives times in milliseconds', () => {
    expect(checkSettings('agent()', schema, { testDoubles: { wait: '10s' }, name: undefined })).toEqual({
      testDoubles: { limit: 6, wait: 10_000 },
    })
  })

  test('suggests the key that was meant when two letters are swapped', () => {
    expect(mistakesOf({ naem: 'x' })).toEqual(["agent(): `naem` is not a setting; did you mean 'name'?"])
  })

  test('says what to write in place of an old key', () => {
    expect(mistakesOf({ standIns: {} })).toEqual(["agent(): `standIns` is now called 'testDoubles': rename it."])
  })

  test('tells all mistakes at once, each with its path', () => {
    const wrong = { names: ['', 'a', 1], either: { limt: 1, wait: 'soon' }, testDoubles: 5, colour: 1, key: 7 }
    expect(mistakesOf(wrong)).toEqual([
      'agent(): `testDoubles` must be an object with limit, wait, not 5.',
      'agent(): `key` must be a text that is not empty, not a number.',
      "agent(): `either.wait` must be milliseconds or a time like '500ms', '30s', '10m', '2h' or '30d', not 'soon'.",
      "agent(): `either.limt` is not a setting; did you mean 'limit'?",
      "agent(): `names.0` must be a text that is not empty, not ''.",
      'agent(): `names.2` must be a text that is not empty, not 1.',
      'agent(): `colour` is not a setting; expected one of name, testDoubles, key, env, either, names.',
    ])
  })

  test('says of the settings as a whole that they are missing, or of the wrong kind', () => {
    const kind = 'an object with name, testDoubles, key, env, either, names'
    expect(mistakesOf(undefined)).toEqual([`agent(): the settings are missing; they must be ${kind}.`])
    expect(mistakesOf('desk')).toEqual([`agent(): the settings must be ${kind}, not 'desk'.`])
  })

  test('shows no value of a secret', () => {
    const text = mistakesOf({ key: ' ', env: { TOKEN: 4711 } }).join()
    expect(text).toContain('`env.TOKEN` must be a text; is a variable not set?')
    expect(text).toContain('`key` must be a text that is not empty.')
    expect(text).not.toContain('4711')
  })

  test('keeps a key with a line break on its line', () => {
    expect(mistakesOf({ 'a\nb': 1, 'c\nd': 2 })).toHaveLength(2)
  })
})
