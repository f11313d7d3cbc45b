import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../src/core/event.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { hideMessage, isWithheld, refuseGiven, refuseMessage, withoutInput } from '../../src/core/refusal.ts'

const message = (parts: Part[]): Message => ({
  message_id: 'msg_1',
  run_id: 'run_1',
  role: 'user',
  parts,
  content: 'secret',
  created_at: '2026-01-01T00:00:00.000Z',
})
const stamp = { run_id: 'run_1', seq: 2, at: '2026-01-01T00:00:00.000Z' }

describe('a message that is withheld', () => {
  const said = message([{ type: 'text', text: 'secret' }])

  test.each([
    ['refused', refuseMessage(said)],
    ['unchecked', hideMessage(said)],
  ])('says nothing but %s', (_, withheld) => {
    expect(JSON.stringify(withheld)).not.toContain('secret')
    expect(isWithheld({ messages: [withheld] })).toBe(true)
  })

  test.each<[string, Message[]]>([
    ['text', [said]],
    ['other data', [message([{ type: 'data', data: { refused: true, more: 1 } }])]],
    ['a mark beside text', [message([{ type: 'data', data: { refused: true } }, ...said.parts])]],
    ['a mark in an answer', [{ ...message([{ type: 'data', data: { refused: true } }]), role: 'assistant' }]],
    ['nothing', []],
  ])('is not taken for one: %s', (_, messages) => {
    expect(isWithheld({ messages })).toBe(false)
  })
})

test('what was changed of a repeated run goes with its input, except its model and settings', () => {
  const edit = {
    model: 'openai/gpt-5',
    settings: { seed: 1 },
    messages: ['secret'],
    instructions: 'secret',
    tool_output: 'secret',
  }
  expect(refuseGiven({ edit }, false)).toBeNull()
  expect(refuseGiven({ edit }, true)).toEqual({ edit: { model: 'openai/gpt-5', settings: { seed: 1 } } })
  expect(refuseGiven({ edit: { messages: ['secret'] }, instructions: 'secret' }, true)).toBeNull()
})

describe('the events of a run whose input was refused', () => {
  const events: RunEvent[] = [
    { ...stamp, type: 'retrieval', query: 'secret', results: [], words: ['secret'], duration_ms: 1 },
    { ...stamp, type: 'tool_call', call_id: 'call_1', name: 'find', input: { text: 'secret' } },
    { ...stamp, type: 'tool_input_delta', call_id: 'call_1', name: 'find', text: '{"text":"secret' },
  ] as RunEvent[]

  test.each(events)('keep nothing of it: $type', (event) => {
    expect(JSON.stringify(event)).toContain('secret')
    expect(JSON.stringify(withoutInput(event, false))).not.toContain('secret')
  })

  test('stay the same object where they have nothing of it', () => {
    const event: RunEvent = { ...stamp, type: 'text_delta', text: 'No.' }
    expect(withoutInput(event, false)).toBe(event)
  })
})
