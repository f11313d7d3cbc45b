import { describe, expect, it } from 'vitest'
import { markWords } from '../../../src/cli/browse/found-words.ts'
import { paintFor } from '../../../src/cli/terminal/paint.ts'
import { searchWordsOf } from '../../../src/core/text/message-search.ts'

const mark = (line: string, words: string) => markWords(line, searchWordsOf(words), (text) => `[${text}]`)
const paint = paintFor({ isTTY: true }, {})

describe('markWords', () => {
  it.each([
    ['whole words, in any case', 'Open reopens open', 'open', '[Open] reopens [open]'],
    ['beginnings of words', 'opening hours', 'open*', '[open]ing hours'],
    ['several words', 'hours of opening', 'opening hours', '[hours] of [opening]'],
    ['parts of identifiers', 'maxRequestSize', 'request', 'max[Request]Size'],
    ['words with accents', 'au café', 'cafe', 'au [café]'],
    ['words of scripts without spaces', '打开设置页面', '设置', '打开[设置]页面'],
    ['nothing', 'closed', 'open', 'closed'],
  ])('marks %s', (_, line, words, marked) => {
    expect(mark(line, words)).toBe(marked)
  })

  it('keeps the styles of the line', () => {
    const line = `${paint.bold('the op')}${paint.red('en door')}`
    expect(mark(line, 'open')).toBe('\u001b[1mthe [op]\u001b[22m\u001b[31m[en] door\u001b[39m')
  })
})
