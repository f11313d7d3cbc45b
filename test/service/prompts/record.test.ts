import { expect, it } from 'vitest'
import type { ModelCallStart } from '../../../src/core/event.ts'
import { fromPromptRecord, type ToldCall, toPromptRecord } from '../../../src/service/prompts/record.ts'

const told = (...messages: string[]): ToldCall => ({
  messages: messages.map((text) => JSON.stringify({ role: 'user', content: [{ type: 'text', text }] })),
  tools: '[{"name":"a"}]',
  settings: undefined,
})
const turn = (...texts: string[]) => told(...texts).messages
const call = (prompt: ReturnType<typeof toPromptRecord>): ModelCallStart & { prompt: typeof prompt } => ({
  type: 'model_call_start',
  call_id: 'c',
  model: 'm',
  tools: [{ name: 'a' }],
  prompt,
})

it('refers to turns that stand in the prompt whole, and to what the call before was told', () => {
  const turns = [turn('c', 'C'), turn('b', 'B'), turn('a', 'A')]
  const first = told('system', 'b', 'B', 'c', 'C', 'now')
  const record = toPromptRecord(first, undefined, turns)
  expect(record.pieces).toEqual([expect.anything(), { turns: [2, 1] }, expect.anything()])
  expect(fromPromptRecord(call(record), undefined, turns)).toEqual(first)
  const second = told('system', 'b', 'B', 'c', 'C', 'now', 'more')
  const next = toPromptRecord(second, first, turns)
  expect(next).toMatchObject({ pieces: [{ same: [0, 6] }, expect.anything()], same: ['tools'] })
  expect(fromPromptRecord(call(next), first, turns)).toEqual(second)
})

it('refers to no turn that may still change, and to none in part', () => {
  const turns = [turn('c', 'C'), undefined, turn('a', 'A')]
  const prompt = told('a', 'A', 'b', 'c', 'now')
  const record = toPromptRecord(prompt, undefined, turns)
  expect(record.pieces.filter((piece) => 'turns' in piece)).toEqual([{ turns: [3, 3] }])
  expect(fromPromptRecord(call(record), undefined, turns)).toEqual(prompt)
})

it('gives nothing where something else would come out', () => {
  const turns = [turn('a', 'A')]
  const first = told('a', 'A', 'now')
  const record = toPromptRecord(first, undefined, turns)
  expect(fromPromptRecord(call(record), undefined, [turn('a', 'B')])).toBeUndefined()
  expect(fromPromptRecord(call(record), undefined, [])).toBeUndefined()
  const next = toPromptRecord(told('other'), first, turns)
  expect(fromPromptRecord(call(next), undefined, turns)).toBeUndefined()
})
