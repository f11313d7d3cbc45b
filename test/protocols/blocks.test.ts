import { expect, test } from 'vitest'
import { Blocks } from '../../src/protocols/blocks.ts'

test('a block opens at the first delta of its kind and ends the one of the other kind', () => {
  const blocks = new Blocks()
  const reasoning = { kind: 'reasoning', seq: 2 }
  const text = { kind: 'text', seq: 4 }
  expect(blocks.delta('reasoning', 2)).toEqual({ block: reasoning, opened: true, closed: undefined })
  expect(blocks.delta('reasoning', 3)).toEqual({ block: reasoning, opened: false, closed: undefined })
  expect(blocks.delta('text', 4)).toEqual({ block: text, opened: true, closed: reasoning })
  expect(blocks.open).toEqual(text)
  expect(blocks.close()).toEqual(text)
  expect([blocks.close(), blocks.open]).toEqual([undefined, undefined])
  expect(blocks.delta('text', 9)).toMatchObject({ opened: true, closed: undefined })
})
