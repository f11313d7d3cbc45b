import { describe, expect, test } from 'vitest'
import { BlockSplitter } from '../../src/core/text/blocks.ts'
import { gapOf, joinCode } from '../../src/studio/parts/blocks.ts'
import { safeName } from '../../src/studio/parts/safe-name.ts'

function blocksOf(text: string): string[] {
  const splitter = new BlockSplitter()
  const blocks: string[] = []
  for (const block of splitter.push(text)) joinCode(blocks, block)
  joinCode(blocks, splitter.open)
  return blocks
}

describe('long code', () => {
  test.each(['```ts', '~~~~'])('that was cut is one block again after %s', (fence) => {
    const code = Array.from({ length: 2000 }, (_, line) => `line ${line}`).join('\n')
    const marker = fence.replace('ts', '')
    const text = `Before.\n\n${fence}\n${code}\n${marker}\n\nAfter.`
    expect(blocksOf(text).join('')).toContain(`${fence}\n${code}\n${marker}`)
    expect(blocksOf(text)).toHaveLength(3)
  })

  test('is not joined with other code, or with text that was cut', () => {
    expect(blocksOf('```a\n1\n```\n\n```a\n2\n```\n')).toHaveLength(2)
    expect(blocksOf('word '.repeat(2000))).toHaveLength(3)
  })
})

describe('of a very long text', () => {
  test('the middle waits to be asked for', () => {
    const blocks = Array.from({ length: 100 }, () => 'a'.repeat(4000))
    expect(gapOf(blocks)).toEqual({ from: 15, to: 85, characters: 280_000 })
  })

  test('nothing waits when it is not that long', () => {
    expect(gapOf(Array.from({ length: 30 }, () => 'a'.repeat(4000)))).toBeUndefined()
    expect(gapOf(['a'.repeat(200_000)])).toBeUndefined()
    expect(gapOf([])).toBeUndefined()
  })
})

describe('a name of a file', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['evil\u202egnp.exe', 'evil\ufffdgnp.exe'],
    ['../../etc/passwd', '.._.._etc_passwd'],
    ['a\u0000b\nc\u200b', 'a\ufffdb\ufffdc\ufffd'],
    [`${'x'.repeat(300)}.txt`, `${'x'.repeat(116)}….txt`],
    [`a.${'y'.repeat(300)}`, `a.${'y'.repeat(118)}…`],
  ])('%j is shown as %j', (name, shown) => {
    expect(safeName(name)).toBe(shown)
  })
})
