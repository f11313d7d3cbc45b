import { stripVTControlCharacters } from 'node:util'
import { Chalk } from 'chalk'
import { describe, expect, it } from 'vitest'
import { widestOf, wrapColumns, wrapText } from '../../../src/cli/markdown/wrapping.ts'

const family = '👨‍👩‍👧‍👦'
const paint = new Chalk({ level: 1 })

describe('wrapText', () => {
  it('leaves text alone that fits', () => {
    const text = `  ${paint.bold('a line')}  你好  `
    expect(wrapText(text, 40)).toBe(text)
  })

  it.each([
    ['between words', `${family} ab ${family} cd`, 12, `${family} ab\n${family} cd`],
    ['in a word that is too long', `${family}${family}ab`, 9, `${family}\n${family}a\nb`],
    ['where lines end already', `  ab\n\n${family} c`, 10, `  ab\n\n${family} c`],
    ['in one column', `a ${family} b`, 1, `a\n${family}\nb`],
    ['at a space that would begin the next line', 'abcd efgh ij', 9, 'abcd efgh\nij'],
    ['at several spaces', 'abcd     efgh', 6, 'abcd\nefgh'],
    ['behind an indent, which stays', '    abcd efgh', 8, '    abcd\nefgh'],
    ['a long word on a line of its own', 'ab 0123456789 cd', 6, 'ab\n012345\n6789\ncd'],
    ['wide characters', '你好 世界人', 7, '你好\n世界人'],
  ])('wraps %s', (_, text, columns, wrapped) => {
    expect(wrapText(text, columns)).toBe(wrapped)
  })

  it('closes styles at the end of a line and opens them on the next', () => {
    expect(wrapText(paint.bold(`x ${paint.red(`${family} yz`)} w`), 9)).toBe(
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
      const lines = stripVTControlCharacters(wrapText(text, columns)).split('\n')
      expect(lines.join('').replaceAll(' ', '')).toBe(stripVTControlCharacters(text).replaceAll(' ', ''))
      for (const line of lines) expect(widestOf(line)).toBeLessThanOrEqual(columns)
    }
  })
})

describe('wrapColumns', () => {
  it.each([
    [
      'below the second column',
      'model     none: the answers are quotes',
      28,
      'model     none: the answers\n          are quotes',
    ],
    ['below a third word', '  1  ab · cd · ef', 12, '  1  ab · cd\n     · ef'],
    ['in by two where a word needs the room', 'session   ses_0123456789', 20, 'session\n  ses_0123456789'],
    [
      'in by two below a wide first column',
      'Shift-Enter, Alt-Enter  new line',
      26,
      'Shift-Enter, Alt-Enter\n  new line',
    ],
    ['close to a first column that others made wide', '/new                  a session', 20, '/new  a session'],
    ['below its indent where there is one column', '  a line of words', 12, '  a line of\n  words'],
    ['each line by itself', 'a  b c d e\nlong line', 6, 'a  b c\n   d e\nlong\nline'],
  ])('goes on %s', (_, text, columns, wrapped) => {
    expect(wrapColumns(text, columns)).toBe(wrapped)
  })
})
