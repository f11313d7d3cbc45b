import { expect, test } from 'vitest'
import { type Before, requestOf } from '../../src/studio/again/edits.ts'

const was: Before = { input: 'When?', instructions: 'Be kind.', output: { open: 9 }, passages: [] }

/** The request of a form with these fields, as it is sent. */
function request(
  fields: Record<string, string | string[]>,
  from?: number,
  before: Partial<Before> = {},
): ReturnType<typeof requestOf> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ after: 'ask', times: '1', ...fields }))
    for (const one of [value].flat()) form.append(name, one)
  return JSON.parse(JSON.stringify(requestOf(form, from, { ...was, ...before })))
}

test('what is left as it is, is not sent', () => {
  const fields = { input: 'When?', instructions: ' ', model: '', temperature: '', mode: '', filters: ' ' }
  const nothing = { edit: {}, after: 'ask', times: 1 }
  expect(request(fields)).toEqual(nothing)
  expect(request({ ...fields, instructions: 'Be kind.', output: '{\n  "open": 9\n}' })).toEqual(nothing)
  expect(request({ ...fields, input: 'When?\nNow?' }, undefined, { input: 'When?\r\nNow?' })).toEqual(nothing)
})

test('each change is an edit, the input only from the beginning', () => {
  const fields = { input: 'Why?', instructions: 'Be brief.', model: ' a/b ', temperature: '0.5', times: '5' }
  const edit = { instructions: 'Be brief.', model: 'a/b', settings: { temperature: 0.5 } }
  expect(request(fields)).toMatchObject({ edit: { ...edit, input: 'Why?' }, times: 5 })
  expect(request({ ...fields, passage: ['c2'], limit: '3' }, 9, { passages: ['c1', 'c2'] })).toMatchObject({
    from: 9,
    edit: { ...edit, passages: { drop: ['c1'], limit: 3 } },
  })
  expect(request(fields, 9).edit).not.toHaveProperty('input')
})

test('another mode, limit or filters search anew, and filters are an object in JSON', () => {
  const fields = { mode: 'keyword', limit: '2', filters: '{"topic":"office"}' }
  expect(request(fields, 5).edit).toEqual({
    passages: { mode: 'keyword', limit: 2, filters: { topic: 'office' } },
  })
  expect(() => request({ filters: '[' }, 5)).toThrow('Filters must be an object in JSON')
})

test('the output of a tool stays what it was, text or JSON', () => {
  const edited = (output: string, before: Before['output']) => request({ output }, 9, { output: before }).edit
  expect(edited('nine', 'ten')).toEqual({ tool_output: 'nine' })
  expect(edited('{"open":10}', { open: 9 })).toEqual({ tool_output: { open: 10 } })
  expect(edited('null', { open: 9 })).toEqual({ tool_output: null })
  expect(edited('{"open":9}', null)).toEqual({ tool_output: { open: 9 } })
  expect(edited('nine', undefined)).toEqual({ tool_output: 'nine' })
  expect(() => edited('{', { open: 9 })).toThrow('The output of the tool is no JSON')
  expect(request({}, 9).edit).toEqual({})
})

test('messages are JSON, when the form has them', () => {
  const edited = (messages: string) => request({ messages }, 9).edit?.messages
  expect(edited('[{"role":"user","content":"Why?"}]')).toEqual([{ role: 'user', content: 'Why?' }])
  expect(() => edited('[')).toThrow('The messages are no list in JSON')
})
