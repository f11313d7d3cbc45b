import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commands } from '../../../src/cli/commands.ts'
import { defineAll } from '../../../src/cli/define-all.ts'
import { completionScript } from '../../../src/cli/help/completion-script.ts'

const all = await defineAll()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-completion-'))
  await writeFile(join(folder, 'bash'), completionScript('bash', all))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What Tab offers in bash when the last word has been begun. */
async function complete(...words: string[]): Promise<string[]> {
  const quoted = words.map((word) => `'${word}'`).join(' ')
  const script = `source ./bash; COMP_WORDS=(agentserve ${quoted}); COMP_CWORD=${words.length}; _agentserve; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', script], { cwd: folder })
  return stdout.split('\n').filter(Boolean)
}

it('completes commands, flags, and what an argument or a flag can be, in bash', async () => {
  expect(await complete('')).toEqual([...commands.map(({ name }) => name), 'help'])
  expect(await complete('d')).toEqual(['dev', 'doctor'])
  expect(await complete('dev', '--o')).toEqual(['--open'])
  expect(await complete('search', 'x', '--mode', '')).toEqual(['hybrid', 'vector', 'keyword'])
  expect(await complete('completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh', 'fish']))
  expect(await complete('help', 'st')).toEqual(['start', 'storage'])
})

it.each(['zsh', 'fish'] as const)('writes every command and flag for %s', (shell) => {
  const script = completionScript(shell, all)
  for (const command of all) {
    expect(script).toContain(command.name())
    for (const { long } of command.options) expect(script).toContain(long?.slice(2))
  }
})
