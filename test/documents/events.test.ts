import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RunEvent } from '../../src/wire/event.ts'

const guide = readFileSync(new URL('../../docs/runs-and-sessions.md', import.meta.url), 'utf8')
/** Said above the table, of every event. */
const common = ['type', 'run_id', 'seq', 'at']
const rows = new Map(
  [...guide.matchAll(/^\| `(\w+)` \| (.*?) \|.*$/gm)].map(([, type = '', fields = '']) => [
    type,
    [...fields.matchAll(/`(\w+)`/g)].map(([, field = '']) => field),
  ]),
)

test.each(
  RunEvent.options.map(({ shape }) => [shape.type.value, Object.keys(shape).filter((key) => !common.includes(key))]),
)('the table of events has %s with its fields', (type, fields) => {
  expect(rows.get(type as string)).toEqual(expect.arrayContaining(fields as string[]))
})
