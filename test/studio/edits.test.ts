import { expect, test } from 'vitest'
import { type Fields, requestOf } from '../../src/studio/again/edits.ts'

const nothing: Fields = { after: 'ask', drop: [], settings: {} }
const before = { input: 'When?', instructions: 'Be kind.', output: { open: 9 }, isTool: false, isCall: false }

test('what is left as it is, is not sent', () => {
  const fields: Fields = { ...nothing, input: 'When?', instructions: ' ', model: '', settings: { temperature: '' } }
  const same = requestOf({ ...fields, instructions: 'Be kind.', mode: '', filters: ' ' }, undefined, before, 1)
  expect(same).toEqual({ after: 'ask', times: 1, keep: 'no' })
  expect(requestOf(fields, undefined, before, 1)).toEqual({ after: 'ask', times: 1, keep: 'no' })
})

test('each change is an edit, the input only from the beginning', () => {
  const fields: Fields = {
    ...nothing,
    input: 'Why?',
    instructions: 'Be brief.',
    model: ' a/b ',
    settings: { temperature: '0.5' },
  }
  const edit = { instructions: 'Be brief.', model: 'a/b', settings: { temperature: 0.5 } }
  expect(requestOf(fields, undefined, before, 5)).toMatchObject({ edit: { ...edit, input: 'Why?' }, times: 5 })
  expect(requestOf({ ...fields, drop: ['c1'], limit: '3' }, 9, before, 1)).toMatchObject({
    from: 9,
    edit: { ...edit, passages: { drop: ['c1'], limit: 3 } },
  })
  expect(requestOf(fields, 9, before, 1).edit).not.toHaveProperty('input')
})

test('another mode, limit or filters search anew, and filters are an object in JSON', () => {
  const fields: Fields = { ...nothing, mode: 'keyword', limit: '2', filters: '{"topic":"office"}' }
  expect(requestOf(fields, 5, before, 1).edit).toEqual({
    passages: { mode: 'keyword', limit: 2, filters: { topic: 'office' } },
  })
  expect(() => requestOf({ ...nothing, filters: '[' }, 5, before, 1)).toThrow('Filters must be an object in JSON')
})

test('the output of a tool stays what it was, text or JSON', () => {
  const edited = (output: string, was: unknown) =>
    requestOf({ ...nothing, output }, 9, { ...before, isTool: true, output: was as never }, 1).edit?.tool_output
  expect(edited('nine', 'ten')).toBe('nine')
  expect(edited('{"open":10}', { open: 9 })).toEqual({ open: 10 })
  expect(() => edited('{', { open: 9 })).toThrow('The output of the tool is no JSON')
  expect(requestOf({ ...nothing, output: 'x' }, 9, before, 1)).not.toHaveProperty('edit')
})

test('messages are a list in JSON, and only for a model call', () => {
  const edited = (messages: string, isCall: boolean) =>
    requestOf({ ...nothing, messages }, 9, { ...before, isCall }, 1).edit?.messages
  expect(edited('[{"role":"user","content":"Why?"}]', true)).toEqual([{ role: 'user', content: 'Why?' }])
  expect(edited('[', false)).toBeUndefined()
  expect(() => edited('[', true)).toThrow('The messages are no list in JSON')
  expect(() => edited('{}', true)).toThrow('The messages are no list in JSON')
})
