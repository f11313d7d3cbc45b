import { describe, expect, it } from 'vitest'
import type { Part } from '../../../src/core/message.ts'
import { citedFirst, markCited } from '../../../src/core/text/citations.ts'

const sources = Array.from({ length: 12 }, (_, place) => ({
  type: 'source' as const,
  index: place + 1,
  source: `${place + 1}.md`,
  document_id: 'doc',
  chunk_id: `chk_${place + 1}`,
}))

function cited(...parts: (Part | string)[]): number[] {
  const said = parts.map((part): Part => (typeof part === 'string' ? { type: 'text', text: part } : part))
  return markCited(sources, said).flatMap(({ index, cited }) => (cited ? [index] : []))
}

describe('markCited', () => {
  it.each<[string, number[]]>([
    ['At most 10 MB [1].', [1]],
    ['It is so[1][3], also [[4]](https://example.com).', [1, 3, 4]],
    ['All agree [1, 2; 5] and [7,8].', [1, 2, 5, 7, 8]],
    ['See [2-4], [6–7] and [9, 11 - 12].', [2, 3, 4, 6, 7, 9, 11, 12]],
    ['[10] is not one.', [10]],
    ['No model is configured.\n\nA passage.\n[1] docs/a.md:3\n', [1]],
    ['See [99], [0], [4-2], [1-999] and [12345].', []],
    ['On [2026-01-02], [1-2-3] and [4, 2026–01–05].', []],
    ['[^1] [a1] [1a] [1.2] [] [ ] (1) 1] [1', []],
    ['A [1](https://example.com) and ![2](a.png) are links.', []],
    ['Call `list[1]` or ``a ` [2]``, not [3]', [3]],
    ['A lone ` does not hide [1].', [1]],
    ['```js\na[1]\n```\nThen [2].\n~~~\n[3]\n```\n[4]\n~~~~\n[5]', [2, 5]],
    ['```\nleft open [1]', []],
    ['A lone ` before\n```\n` [1]\n```\nand [2].', [2]],
    ['```` [1] ``` [2] ```` [3] ``` [4]', [3, 4]],
  ])('finds in %j the numbers %j', (text, numbers) => {
    expect(cited(text)).toEqual(numbers)
  })

  it('reads text that is in several parts, and the strings of data', () => {
    expect(cited('See [', '1].')).toEqual([1])
    expect(cited({ type: 'data', data: { answer: 'Ten [2].', of: [{ why: '[3]' }], ids: [1] } })).toEqual([2, 3])
    expect(cited({ type: 'file', media_type: 'text/plain', name: '[4]' })).toEqual([])
    expect(cited()).toEqual([])
    const deep = JSON.parse(`${'['.repeat(100_000)}"[2]"${']'.repeat(100_000)}`)
    expect(cited('[1', { type: 'data', data: deep }, '3] [4]')).toEqual([2, 4])
  })

  it('leaves the sources in their order and does not change them', () => {
    const marked = markCited(sources, [{ type: 'text', text: '[12] [2]' }])
    expect(marked.map(({ index }) => index)).toEqual(sources.map(({ index }) => index))
    expect(sources[1]).not.toHaveProperty('cited')
    expect(citedFirst(marked).map(({ index }) => index)).toEqual([2, 12, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(citedFirst(sources)).toEqual(sources)
  })

  it.each([
    ['ranges', Array.from({ length: 100_000 }, (_, place) => `[${place % 9000}-${(place % 9000) + 99}]`).join('')],
    ['backticks', Array.from({ length: 1_000 }, (_, place) => '`'.repeat(place + 1)).join('[1]')],
    ['brackets', '[1 '.repeat(500_000)],
    ['lists', `[${'1, '.repeat(500_000)}`],
  ])('reads a long answer of %s', (_name, text) => {
    expect(cited(text).length).toBeLessThanOrEqual(12)
  })
})
