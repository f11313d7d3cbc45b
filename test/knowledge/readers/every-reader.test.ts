import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { readers } from '../../../src/knowledge/readers/all.ts'

afterAll(() => readers.close())

const guide = readFileSync(new URL('../../../docs/knowledge.md', import.meta.url), 'utf8')
const list = readers.list()

test('each reader has a row with its extensions in docs/knowledge.md', () => {
  const rows = [...guide.matchAll(/^\| (`\w.*?) \| (.*?) \|/gm)]
  const missing = list.flatMap(({ name, extensions }) => {
    const files = rows.find(([, names = '']) => names.includes(`\`${name}\``))?.[2]
    if (files === undefined) return [name]
    return files.includes(' such as ') ? [] : extensions.filter((extension) => !files.includes(`\`${extension}\``))
  })
  expect(missing).toEqual([])
})

const hostile: Record<string, string> = {
  'nothing but spaces': ' \n\t\n \r\n',
  'a NUL and half a character': 'a\0b \ud800 c\n',
  'a line without end': 'word '.repeat(200_000),
  'marks that open and never close': '[(<{*_`=|#"\'\\'.repeat(20_000),
  'lines that nest ever deeper': Array.from({ length: 2_000 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n'),
  'control codes of a terminal': '\u001b[31mred\u001b[0m \u0007 \u009b31m\n',
}

test.each(
  list.flatMap(({ name, extensions }) => Object.keys(hostile).map((what) => [name, what, extensions[0] ?? ''])),
)('%s reads %s as text, or says that it is unreadable', async (_, what, extension) => {
  const content = hostile[what] ?? ''
  const result = await readers.read({ content, name: `hostile${extension}` }).catch((error: unknown) => error)
  if (result instanceof Error) expect(result).toMatchObject({ code: 'unreadable_document' })
  else expect(result).toSatisfy(({ text }: { text: string }) => text.isWellFormed() && !text.includes('\0'))
})
