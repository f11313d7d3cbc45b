import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createProgress } from '../../../src/cli/terminal/progress.ts'
import { formatTable } from '../../../src/cli/terminal/table.ts'

function stream(isTTY: boolean) {
  const output = Object.assign(new PassThrough(), { isTTY, columns: 40 })
  const text = () => String(output.read() ?? '')
  return { output: output as unknown as NodeJS.WriteStream, text }
}

describe('createProgress', () => {
  it('draws a bar that fits the line, and takes it away', () => {
    const { output, text } = stream(true)
    const progress = createProgress(output)
    progress.update(2, 2, `docs/${'long'.repeat(20)}.md\u001b[2J`)
    const drawn = stripVTControlCharacters(text()).trim()
    expect(drawn).toMatch(/^█{24} 2\/2 docs\//)
    expect(drawn).toHaveLength(39)
    progress.end()
    expect(text()).toBe('\r\u001b[K')
  })

  it('is silent where there is no terminal', () => {
    const { output, text } = stream(false)
    const progress = createProgress(output)
    progress.update(1, 2, 'a')
    progress.end()
    expect(text()).toBe('')
  })
})

describe('formatTable', () => {
  it('lines columns up and keeps each row on one line, whatever its cells hold', () => {
    const rows = [
      ['a', 'first\nsecond'],
      ['longer', '\u001b[31mred\u001b[0m'],
    ]
    expect(formatTable(['ID', 'TEXT'], rows)).toBe('ID      TEXT\na       first second\nlonger  red\n')
  })
})
