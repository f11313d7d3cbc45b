import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chatCommands } from '../../../src/cli/chat/commands.ts'
import { chatKeys } from '../../../src/cli/chat/keys.ts'

const guide = await readFile(join(import.meta.dirname, '../../../docs/terminal.md'), 'utf8')

/** The rows of the table under a heading. */
function rows(heading: string): string[][] {
  const [, section = ''] = guide.split(`## ${heading}\n`)
  const [table = ''] = section.trim().split('\n\n')
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.slice(2, -2).split(' | '))
}

test('docs/terminal.md has the keys and the commands that /help shows', () => {
  expect(rows('Keys')).toEqual(chatKeys.map((row) => [...row]))
  expect(rows('Commands')).toEqual(chatCommands().map(({ usage, about }) => [`\`${usage}\``, about]))
})
