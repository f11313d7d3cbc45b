import { describe, expect, test } from 'vitest'
import type { AppError } from '../../../src/core/error.ts'
import { readClientTools } from '../../../src/protocols/openai/client-tools.ts'
import { openaiErrorOf } from '../../../src/protocols/openai/error.ts'
import { readFormat } from '../../../src/protocols/openai/format.ts'

const parameters = { type: 'object', properties: { a: { type: 'number' } } }
const chat = (name: string) => ({ type: 'function', function: { name, description: 'Picks.', parameters } })
const response = (name: string) => ({ type: 'function', name, description: 'Picks.', parameters, strict: true })
const read = (name: string) => ({ name, description: 'Picks.', parameters })

function refusal(act: () => unknown) {
  try {
    act()
  } catch (error) {
    const { param, code } = openaiErrorOf(error as AppError)
    return [param, code]
  }
  return undefined
}

describe('client tools', () => {
  test('are functions in both dialects', () => {
    const expected = { client_tools: [read('a'), read('b')], ignored: [] }
    expect(readClientTools({ tools: [chat('a'), chat('b')] }, true)).toEqual(expected)
    expect(readClientTools({ tools: [response('a'), response('b')], tool_choice: 'auto' }, true)).toEqual(expected)
    const bare = { type: 'function', function: { name: 'a', description: null, parameters: null } }
    expect(readClientTools({ tools: [bare] }, true).client_tools).toEqual([
      { name: 'a', parameters: { type: 'object', properties: {} } },
    ])
  })

  test('leave out those that OpenAI executes, and say so', () => {
    const builtIn = [{ type: 'web_search' }, { type: 'mcp', server_label: 'x' }]
    expect(readClientTools({ tools: builtIn }, true)).toEqual({ ignored: ['tools'] })
    expect(readClientTools({ tools: [...builtIn, chat('a')] }, true)).toEqual({
      client_tools: [read('a')],
      ignored: ['tools'],
    })
  })

  test('are ignored by entities that take none', () => {
    expect(readClientTools({ tools: [chat('a')] }, false)).toEqual({ ignored: ['tools'] })
    expect(readClientTools({}, false)).toEqual({ ignored: [] })
    expect(readClientTools({ tools: null, tool_choice: null }, true)).toEqual({ ignored: [] })
  })

  test('are those that the choice allows', () => {
    const tools = [chat('a'), chat('b')]
    expect(readClientTools({ tools, tool_choice: 'none' }, true)).toEqual({ ignored: [] })
    const allowed = [{ type: 'function', function: { name: 'b' } }]
    const inChat = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: allowed } }
    expect(readClientTools({ tools, tool_choice: inChat }, true).client_tools).toEqual([read('b')])
    const inResponses = {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'b' }, { type: 'mcp' }],
    }
    expect(readClientTools({ tools, tool_choice: inResponses }, true).client_tools).toEqual([read('b')])
  })

  test.each([['required'], [{ type: 'function', function: { name: 'a' } }], [{ type: 'function', name: 'a' }]])(
    'a choice of %j is refused, because nothing makes a model call a tool',
    (tool_choice) => {
      for (const takes of [true, false]) {
        expect(refusal(() => readClientTools({ tools: [chat('a')], tool_choice }, takes))).toEqual([
          'tool_choice',
          'tools_not_supported',
        ])
      }
    },
  )

  test.each([
    [{ tools: {} }, 'tools'],
    [{ tools: [null] }, 'tools[0]'],
    [{ tools: ['a'] }, 'tools[0]'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].name'],
    [{ tools: [{ type: 'function', function: [] }] }, 'tools[0].function'],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [{ tools: [{ type: 'function', function: { name: 'a', parameters: 'x' } }] }, 'tools[0].function.parameters'],
    [{ tool_choice: 5 }, 'tool_choice'],
    [{ tool_choice: 'any' }, 'tool_choice'],
    [{ tool_choice: {} }, 'tool_choice'],
    [{ tool_choice: { type: 'allowed_tools', tools: {} } }, 'tool_choice.tools'],
    [{ tool_choice: { type: 'allowed_tools', allowed_tools: { tools: [3] } } }, 'tool_choice.allowed_tools.tools[0]'],
  ])('%j is refused', (body, param) => {
    expect(refusal(() => readClientTools(body, true))).toEqual([param, 'invalid_value'])
  })
})

describe('the format of the answer', () => {
  const schema = { type: 'object', properties: {} }
  test('is a JSON schema in both dialects', () => {
    const json_schema = { name: 'a', schema, strict: true }
    expect(readFormat({ type: 'json_schema', json_schema }, 'response_format')).toEqual(schema)
    expect(readFormat({ type: 'json_schema', ...json_schema }, 'text.format')).toEqual(schema)
    expect(readFormat({ type: 'json_object' }, 'text.format')).toEqual({ type: 'object' })
  })

  test.each([[undefined], [null], [{ type: 'text' }]])('is text for %j', (format) => {
    expect(readFormat(format, 'text.format')).toBeUndefined()
  })

  test.each([
    ['json', 'response_format', 'invalid_value'],
    [{}, 'response_format', 'invalid_value'],
    [{ type: 'grammar' }, 'response_format.type', 'unsupported_parameter'],
    [{ type: 'json_schema' }, 'response_format.schema', 'invalid_value'],
    [{ type: 'json_schema', json_schema: { schema: [] } }, 'response_format.json_schema.schema', 'invalid_value'],
  ])('%j is refused', (format, param, code) => {
    expect(refusal(() => readFormat(format, 'response_format'))).toEqual([param, code])
  })
})
