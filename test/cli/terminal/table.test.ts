import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { formatTable } from '../../../src/cli/terminal/table.ts'

const head = ['RUN', 'AGENT', 'TEXT']
const rows = [
  ['run_0123456789', 'a-rather-long-agent', '文字'.repeat(20)],
  ['run_1', 'b', 'short'],
]
const widest = (table: string) => Math.max(...table.split('\n').map((line) => stringWidth(line)))

it('is as wide as its cells where nothing limits it', () => {
  expect(formatTable(head, rows, undefined)).toBe(
    [
      `RUN             AGENT                TEXT`,
      `run_0123456789  a-rather-long-agent  ${'文字'.repeat(20)}`,
      `run_1           b                    short\n`,
    ].join('\n'),
  )
})

it('cuts the widest cells to fit, and never the first', () => {
  for (const columns of [40, 60, 80, 120]) {
    const table = formatTable(head, rows, columns)
    expect(widest(table)).toBeLessThanOrEqual(columns)
    expect(table).toContain('run_0123456789  ')
    expect(table).toContain('short')
  }
  expect(formatTable(head, rows, 40)).toContain('…')
  expect(formatTable(head, rows, 200)).not.toContain('…')
})

it('lists the cells of a row one below the other where cutting does not help', () => {
  expect(formatTable(head, rows, 30)).toContain('run_0123456789\n  agent: a-rather-long-agent\n  text: 文字')
  expect(widest(formatTable(head, rows, 30))).toBeLessThanOrEqual(30)
})

it('leaves out what no row has before it cuts', () => {
  const wide = ['RUN', 'USER', 'COST', 'TEXT']
  const some = [
    ['run_0123456789', '-', '', 'a text of some words'],
    ['run_1', '-', '', 'short'],
  ]
  expect(formatTable(wide, some, 40)).toBe(
    'RUN             TEXT\nrun_0123456789  a text of some words\nrun_1           short\n',
  )
  expect(formatTable(wide, some, 80)).toContain('USER')
  expect(formatTable(wide, some, 20)).toBe('run_0123456789\n  text: a text of s…\nrun_1\n  text: short\n')
})

it('cuts other columns than those that are to stay whole, or lists the cells', () => {
  const log = ['WHEN', 'WHO', 'ACTION', 'OBJECT']
  const entries = [
    ['5 min ago', 'support-desk', 'knowledge.delete', 'doc_01m8b5cdft00025tf151p6a2wh'],
    ['now', 'support-desk', 'config.reload', ''],
  ]
  const [, first] = formatTable(log, entries, 60, ['WHO', 'ACTION']).split('\n')
  expect(first).toBe('5 min ago  support-desk  knowledge.delete  doc_01m8b5cdft00…')
  expect(formatTable(log, entries, 50, ['WHO', 'ACTION'])).toBe(
    [
      ...['5 min ago', '  who: support-desk', '  action: knowledge.delete', '  object: doc_01m8b5cdft00025tf151p6a2wh'],
      ...['now', '  who: support-desk', '  action: config.reload\n'],
    ].join('\n'),
  )
})

it('names a row whose name is a number alone', () => {
  const instances = formatTable(['INSTANCE', 'STATE', 'OWNER'], [['3', 'alive', 'owner_0123456789']], 20)
  expect(instances).toBe('instance 3\n  state: alive\n  owner: owner_0123…\n')
})

it('keeps what a terminal would obey out of cells', () => {
  expect(formatTable(['A', 'B'], [['x\u001b[2J', 'a\nb']], 80)).toBe('A  B\nx  a b\n')
})
