import { expect, it } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { Knowledge } from '../../../src/core/knowledge/knowledge.ts'
import { around } from '../../../src/runnables/agent/around.ts'
import { hit } from '../fixture.ts'

const text = 'Open these ports:\n\n- 443\n- 8080\n\nThat is all.\n'
const piece = (from: number, to: number, line: number) =>
  hit(text.slice(from, to), { start_offset: from, end_offset: to, line_start: line })

function knowing(before: [number, number, number][], own: [number, number, number], after: [number, number, number][]) {
  const getChunk: Knowledge['getChunk'] = async () => ({
    ...piece(...own),
    before: before.map((each) => piece(...each)),
    after: after.map((each) => piece(...each)),
  })
  return around({ getChunk })(piece(...own))
}

it('joins a chunk with its neighbours without their overlap', async () => {
  expect(await knowing([[0, 22, 1]], [18, 32, 2], [[30, text.length, 4]])).toEqual({
    content: text,
    shift: 18,
    line: 1,
  })
})

it('takes the chunk alone where a neighbour does not join it', async () => {
  expect(await knowing([], [0, 10, 1], [[12, 30, 3]])).toEqual({ content: text.slice(0, 10), shift: 0, line: 1 })
})

it('leaves out a neighbour in which code is open, since its fences would be taken the wrong way round', async () => {
  const code = 'ls\n```\n\nThen wait.\n'
  const own = hit(code.slice(8), { start_offset: 8, end_offset: code.length, line_start: 4 })
  const before = hit(code.slice(0, 8), { start_offset: 0, end_offset: 8, line_start: 1 })
  const widen = around({ getChunk: async () => ({ ...own, before: [before], after: [] }) })
  expect(await widen(own)).toEqual({ content: 'Then wait.\n', shift: 0, line: 4 })
})

it('takes the chunk as it was found when it has been replaced or deleted since; other errors are told', async () => {
  const found = hit('Wait.')
  const gone = around({ getChunk: () => Promise.reject(new AppError('chunk_not_found', 'gone')) })
  expect(await gone(found)).toEqual({ content: 'Wait.', shift: 0, line: 1 })
  const other = around({ getChunk: async () => ({ ...hit('Go.'), before: [], after: [] }) })
  expect(await other(found)).toEqual({ content: 'Wait.', shift: 0, line: 1 })
  const broken = around({ getChunk: () => Promise.reject(new Error('disk')) })
  await expect(broken(found)).rejects.toThrow('disk')
})
