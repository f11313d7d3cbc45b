import { describe, expect, it } from 'vitest'
import { plainLine } from '../../../src/cli/markdown/plain-line.ts'

describe('plainLine', () => {
  it.each([
    ['styles', '**b** *i* _j_ __k__ ~~d~~ `c`', 'b i j k d c'],
    [
      'headings, lists, tasks and quotes',
      '# One\n\n- two\n  - [x] three\n1. four\n> five',
      'One two three 1. four five',
    ],
    ['links and pictures', '[docs](http://x.test/a "t") ![cat](cat.png)', 'docs cat'],
    ['tables', '| a | b |\n|:--|--:|\n| c | d |', 'a · b c · d'],
    ['code', '```ts\nconst a = b * c\n```', 'const a = b * c'],
    ['pieces of Markdown', '…ing** the `port and | so', '…ing the port and · so'],
    ['escapes', '\\*a\\* \\# b', '*a* # b'],
    [
      'what only looks like Markdown',
      'snake_case_name 2 * 3 * 4 __init__.py a|b',
      'snake_case_name 2 * 3 * 4 init.py a|b',
    ],
  ])('reads %s', (_, markdown, line) => {
    expect(plainLine(markdown)).toBe(line)
  })

  it('is safe for a terminal', () => {
    expect(plainLine('a\u001b[2J\u009b31m\n\u202eb')).toBe('a b')
  })
})
