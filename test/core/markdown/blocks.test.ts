import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockSplitter } from '../../../src/core/markdown/blocks.ts'

/** The blocks that a text is cut into when it comes in these pieces. */
function blocksOf(...pieces: string[]): string[] {
  const splitter = new BlockSplitter()
  return [...pieces.flatMap((piece) => splitter.push(piece)), ...splitter.end()].map(({ text }) => text.trimEnd())
}

describe('BlockSplitter', () => {
  it.each<[string, string, string[]]>([
    ['paragraphs at empty lines', 'one\ntwo\n\nthree\n', ['one\ntwo', 'three']],
    ['code at its end, empty lines inside', 'a\n```ts\nx\n\ny\n```\nb', ['a', '```ts\nx\n\ny\n```', 'b']],
    ['no fence inside a longer one', '````\n```\n\nx\n````\ny', ['````\n```\n\nx\n````', 'y']],
    [
      'lists as one, their empty lines and code too',
      '- a\n\n- b\n\n  ```\n  x\n\n  y\n  ```\n\nend\n',
      ['- a\n\n- b\n\n  ```\n  x\n\n  y\n  ```', 'end'],
    ],
    ['code that never ends as code', '```\nx\n\ny', ['```\nx\n\ny']],
    [
      'lines of Windows',
      '- a\r\n\r\n- b\r\n\r\n```ts\r\nx\r\n\r\ny\r\n```\r\nz',
      ['- a\r\n\r\n- b', '```ts\r\nx\r\n\r\ny\r\n```', 'z'],
    ],
    ['nothing for nothing', '\n\n \n', []],
  ])('cuts %s', (_, text, blocks) => {
    expect(blocksOf(text)).toEqual(blocks)
    expect(blocksOf(...text)).toEqual(blocks)
  })

  it('keeps every character in its order, however the text comes', () => {
    const piece = fc.constantFrom('a', ' b', '\n', '\n\n', '- c', '1. d', '> e', '| f |', '    g', '# h', 'ü👩‍👧')
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const blocks = blocksOf(...pieces)
        expect(blocks.join('').replace(/\s/g, '')).toBe(pieces.join('').replace(/\s/g, ''))
      }),
    )
  })

  it('lets no block grow without bounds, and goes on with it', () => {
    const splitter = new BlockSplitter()
    const word = `${'x'.repeat(50)} `
    const closed = splitter.push(word.repeat(10_000))
    expect(splitter.open.text.length).toBeLessThanOrEqual(4096)
    expect(closed.slice(1).every(({ joined }) => joined)).toBe(true)
    expect(closed.map(({ text }) => text).join('') + splitter.open.text).toBe(word.repeat(10_000))
  })

  it('does not repeat all of a long fence at each cut', () => {
    const blocks = blocksOf(`${'~'.repeat(50_000)}\n${'x\n'.repeat(50_000)}`)
    expect(blocks.length).toBeGreaterThan(20)
    expect(blocks.join('').length).toBeLessThan(160_000)
  })

  it('shows long code as code on both sides of a cut', () => {
    const code = 'const x = 1\n'.repeat(3000)
    const blocks = blocksOf(`\`\`\`ts\n${code}\`\`\`\nend`)
    expect(blocks.length).toBeGreaterThan(4)
    expect(blocks.at(-1)).toBe('end')
    for (const block of blocks.slice(0, -1)) expect(block).toMatch(/^```ts\n(?:const x = 1\n)+```$/)
  })

  it.each(['```ts', '~~~~'])('leaves code after %s in one piece as long as it may be', (fence) => {
    const code = Array.from({ length: 2000 }, (_, line) => `line ${line}`).join('\n')
    const block = `${fence}\n${code}\n${fence.replace('ts', '')}\n`
    for (const size of [1, 100, 100_000]) {
      const splitter = new BlockSplitter(100_000)
      const text = `Before.\n\n${block}\nAfter.`
      const closed = Array.from({ length: Math.ceil(text.length / size) }, (_, place) =>
        splitter.push(text.slice(place * size, (place + 1) * size)),
      )
      const blocks = [...closed.flat(), splitter.open].map((one) => one.text.trim())
      expect(blocks).toEqual(['Before.', block.trim(), 'After.'])
    }
    expect(new BlockSplitter(100_000).push(`- a\n\n  ${block}`).length).toBeGreaterThan(0)
    expect(new BlockSplitter(100_000).push('word '.repeat(2000))).toHaveLength(2)
    expect(new BlockSplitter(10_000).push(block).length).toBeGreaterThan(1)
  })

  it('cuts a long list before an item of the outer list', () => {
    const items = Array.from(
      { length: 40 },
      (_, place) => `${place + 1}. item\n\n   - inner\n\n     ${'word '.repeat(40)}\n`,
    )
    const blocks = blocksOf(`${items.join('\n')}\nend`)
    expect(blocks.length).toBeGreaterThan(2)
    for (const block of blocks) expect(block).toMatch(/^(?:\d+\. item|end)/)
  })

  it.each([
    ['a line without an end', 'y'.repeat(1_000_000)],
    ['fences', '`'.repeat(1_000_000)],
    ['a fence with a long name', `\`\`\`${'z'.repeat(100_000)}\n${'code\n'.repeat(10_000)}`],
    ['surrogates', '😀'.repeat(100_000)],
  ])('is done with %s', (_, text) => {
    const splitter = new BlockSplitter()
    const closed = splitter.push(text)
    expect(splitter.open.text.length).toBeLessThanOrEqual(4096)
    expect(closed.map((block) => block.text).join('')).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/)
  })
})
