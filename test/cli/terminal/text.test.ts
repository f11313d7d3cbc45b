import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTerminalFilter, terminalJson, terminalLine, terminalText } from '../../../src/cli/terminal/text.ts'

const esc = '\u001b'

describe('terminalText', () => {
  it.each([
    ['colours', `a${esc}[31mred${esc}[0mb`, 'aredb'],
    ['cursor movement and clearing', `${esc}[2J${esc}[1;1Htop`, 'top'],
    ['a window title', `${esc}]0;owned\u0007title`, 'title'],
    ['the clipboard', `${esc}]52;c;aGk=${esc}\\after`, 'after'],
    ['a hyperlink', `${esc}]8;;http://evil.test${esc}\\text${esc}]8;;${esc}\\`, 'text'],
    ['device control strings', `${esc}P1$r0m${esc}\\x`, 'x'],
    ['8-bit sequences', 'a\u009b31mb\u009d0;t\u009cc', 'abc'],
    ['charset switches', `${esc}(0x${esc}cy`, 'xy'],
    ['backspace, bell, NUL and DEL', 'a\b\u0007\u0000\u007fb', 'ab'],
    ['a return that overwrites the line', 'safe\revil', 'safeevil'],
    ['reading direction', 'a\u202egnp.exe\u2066b\u2069\u200f\u061cc', 'agnp.exebc'],
    ['hidden tags', 'a\u{e0041}b', 'ab'],
    ['line separators', 'a\u2028b', 'ab'],
    ['half a surrogate', 'a\ud800b', 'ab'],
  ])('takes out %s', (_, text, clean) => {
    expect(terminalText(text)).toBe(clean)
  })

  it('keeps what people write', () => {
    const text = 'Grüße, 你好, مرحبا, 👩‍👩‍👧 e\u0301\n\tindented [31m'
    expect(terminalText(text)).toBe(text)
  })

  it('lets an unfinished sequence swallow no more than its line', () => {
    expect(terminalText(`a${esc}]0;never closed\nb${esc}[12\nc${esc}\nd`)).toBe('a\nb\nc\nd')
  })

  it('lets nothing through that a terminal obeys, however the text is cut', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(esc, `${esc}[`, `${esc}]`, '\u009b', '\u0007', '\\', '31m', '\n', '\r', '\u202e'),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const filter = createTerminalFilter()
        const cut = pieces.map(filter).join('')
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
        expect(cut).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/)
      }),
    )
  })

  it('keeps a character that is cut in two, and drops a half that stays alone', () => {
    const filter = createTerminalFilter()
    expect(['a\ud83d', '\udc69b', '\ud83d', 'c'].map(filter)).toEqual(['a', '👩b', '', 'c'])
  })

  it('cleans a sequence that is cut in two as if it were whole', () => {
    const text = `one${esc}]0;title${esc}\\two${esc}[1;31mthree`
    for (let index = 0; index <= text.length; index++) {
      const filter = createTerminalFilter()
      expect(filter(text.slice(0, index)) + filter(text.slice(index))).toBe('onetwothree')
    }
  })
})

describe('terminalLine', () => {
  it('puts everything on one line', () => {
    expect(terminalLine(' a\n\tb\r\n  c ')).toBe('a b c')
  })
})

describe('terminalJson', () => {
  it('keeps the value and lets a terminal obey nothing', () => {
    const value = { text: `${esc}[2J\u009b2J\u202e\u007f\u2028é` }
    const line = terminalJson(value)
    expect(JSON.parse(line)).toEqual(value)
    expect(line).toMatch(/^[\x20-\x7eé]*$/)
  })
})
