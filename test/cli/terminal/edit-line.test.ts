import { describe, expect, it } from 'vitest'
import { type EditKey, editLine, emptyLine, type Line } from '../../../src/cli/terminal/edit-line.ts'

const none: EditKey = {
  leftArrow: false,
  rightArrow: false,
  upArrow: false,
  downArrow: false,
  home: false,
  end: false,
  backspace: false,
  delete: false,
  ctrl: false,
  meta: false,
}

type Step = string | Partial<EditKey> | [string, Partial<EditKey>]

function edit(...steps: Step[]): Line {
  return steps.reduce<Line>((line, step) => {
    if (typeof step === 'string') return editLine(line, step, none)
    const [input, key] = Array.isArray(step) ? step : ['', step]
    return editLine(line, input, { ...none, ...key })
  }, emptyLine)
}

describe('editLine', () => {
  it.each<[string, Step[], string, number]>([
    ['types at the cursor', ['ac', { leftArrow: true }, 'b'], 'abc', 2],
    [
      'moves and deletes by what a person sees as one character',
      ['a👩‍👩‍👧e\u0301', { backspace: true }, { backspace: true }],
      'a',
      1,
    ],
    ['deletes forwards', ['abc', { home: true }, { delete: true }], 'bc', 0],
    ['stays inside the line', [{ leftArrow: true }, { backspace: true }, 'a', { rightArrow: true }], 'a', 1],
    ['goes to both ends', ['abc', ['a', { ctrl: true }], 'x', ['e', { ctrl: true }], 'y'], 'xabcy', 5],
    [
      'cuts before and behind the cursor',
      ['abcd', { leftArrow: true }, ['k', { ctrl: true }], { leftArrow: true }, ['u', { ctrl: true }]],
      'c',
      0,
    ],
    ['keeps the lines of a paste, and none of its controls', ['one\r\ntwo\rx\u0007\u001b'], 'one\ntwo\nx', 9],
    [
      'goes up and down, to the end of a shorter line',
      ['abc\nd\nef', { upArrow: true }, 'x', { upArrow: true }, 'y'],
      'aby' + 'c\ndx\nef',
      3,
    ],
    ['goes down', ['a\nbcd', { upArrow: true }, { home: true }, { downArrow: true }, 'x'], 'a\nxbcd', 3],
    [
      'goes to the ends of its line',
      ['a\nbc\nd', { upArrow: true }, { home: true }, 'x', { end: true }, 'y'],
      'a\nxbcy\nd',
      6,
    ],
    [
      'moves and erases by words',
      ['one two three', ['b', { meta: true }], { leftArrow: true, ctrl: true }, ['w', { ctrl: true }]],
      'two three',
      0,
    ],
    ['ignores other control and meta keys', ['a', ['x', { ctrl: true }], ['z', { meta: true }]], 'a', 1],
  ])('%s', (_, steps, text, cursor) => {
    expect(edit(...steps)).toEqual({ text, cursor })
  })
})
