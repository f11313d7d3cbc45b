import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cliDocument } from '../../scripts/cli-document.ts'
import { commands } from '../../src/cli/commands.ts'
import { guides } from '../../src/cli/help/guides.ts'

it('docs/cli.md is what the commands say of themselves', async () => {
  await expect(`${await cliDocument()}\n`).toMatchFileSnapshot('../../docs/cli.md')
})

it('every command has a guide with its own examples, and every guide a command and a page', () => {
  expect(Object.keys(guides).sort()).toEqual(commands.map(({ name }) => name).sort())
  for (const [name, { examples, page }] of Object.entries(guides)) {
    expect(examples.filter((example) => !example.includes(`agentserve ${name}`))).toEqual([])
    expect(examples).not.toEqual([])
    if (page !== undefined) expect(existsSync(join(import.meta.dirname, `../../docs/${page}.md`)), page).toBe(true)
  }
})
