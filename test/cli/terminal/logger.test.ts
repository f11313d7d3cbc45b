import { expect, it } from 'vitest'
import { terminalLogger } from '../../../src/cli/terminal/logger.ts'

function said(log: (logger: ReturnType<typeof terminalLogger>) => void, options = {}): string[] {
  const lines: string[] = []
  log(terminalLogger({ ...options, print: (text) => void lines.push(text) }))
  return lines
}

it('says level, message and fields in one line, and nothing of debug unless asked', () => {
  const lines = said((logger) => {
    logger.debug({}, 'unseen')
    logger.info({ runs: 2 }, 'taken up')
    logger.warn({ error: new Error('no', { cause: new Error('disk') }) }, 'later')
  })
  expect(lines).toEqual(['taken up runs=2', 'warning: later error=no (disk)'])
})

it("shows the place of an error in the user's own code, and none where there is none", () => {
  const error = new Error('boom')
  error.stack = `Error: boom\n    at run (${import.meta.filename}:1:10)\n    at node:internal/x:1:1`
  const [line] = said((logger) => logger.error({ error }, 'failed'), { places: true })
  expect(line).toMatch(/^error: failed error=boom\n {2}at test\/cli\/terminal\/logger\.test\.ts:1\n {2}> 1 \| import/)
  error.stack = 'Error: boom\n    at /x/node_modules/y/index.js:1:1'
  expect(said((logger) => logger.error({ error }, 'failed'), { places: true })).toEqual(['error: failed error=boom'])
})

it('lets nothing through that a terminal obeys, neither of the message nor of the fields', () => {
  const hostile = 'a\x1b]0;title\x07b\x1b[2J\u202e'
  const [line = ''] = said((logger) => logger.info({ [hostile]: hostile, error: new Error(hostile) }, hostile))
  expect([...line].filter((character) => character < ' ' || character === '\u202e')).toEqual([])
})
