import { stripVTControlCharacters } from 'node:util'
import { Chalk } from 'chalk'
import { describe, expect, it } from 'vitest'
import { widestOf, wrapJoined } from '../../../src/cli/markdown/joined.ts'

const family = '👨‍👩‍👧‍👦'
const paint = new Chalk({ level: 1 })

describe('wrapJoined', () => {
  it('leaves text alone about which terminals agree', () => {
    const text = `${'a long line '.repeat(20)}你好`
    expect(wrapJoined(text, 10)).toBe(text)
  })

  it.each([
    ['between words', `${family} ab ${family} cd`, 12, `${family} ab\n${family} cd`],
    ['in a word that is too long', `${family}${family}ab`, 9, `${family}\n${family}a\nb`],
    ['where lines end already', `  ab\n\n${family} c`, 10, `  ab\n\n${family} c`],
    ['in one column', `a ${family} b`, 1, `a\n${family}\nb`],
  ])('wraps %s', (_, text, columns, wrapped) => {
    expect(wrapJoined(text, columns)).toBe(wrapped)
  })

  it('closes styles at the end of a line and opens them on the next', () => {
    expect(wrapJoined(paint.bold(`x ${paint.red(`${family} yz`)} w`), 9)).toBe(
      [
        '\u001b[1mx\u001b[22m',
        `\u001b[1m\u001b[31m${family}\u001b[39m\u001b[22m`,
        '\u001b[1m\u001b[31myz\u001b[39m w\u001b[22m',
      ].join('\n'),
    )
  })

  it('keeps every character, and no line is wider than asked', () => {
    const text = `${paint.yellow(`a${family}b `)}❤️ ${paint.bold('🇩🇪🏳️‍🌈👩🏽‍🌾 long words 你好')} שלום ${family.repeat(3)}`
    for (let columns = 8; columns < 60; columns++) {
      const lines = stripVTControlCharacters(wrapJoined(text, columns)).split('\n')
      expect(lines.join('').replaceAll(' ', '')).toBe(stripVTControlCharacters(text).replaceAll(' ', ''))
      for (const line of lines) expect(widestOf(line)).toBeLessThanOrEqual(columns)
    }
  })
})
