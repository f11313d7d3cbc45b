import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../../../src/cli/commands.ts'
import { defineAll } from '../../../src/cli/define-all.ts'
import { completionScript } from '../../../src/cli/help/completion-script.ts'
import { bin, command, createProject, type Project, serve } from '../../support/program.ts'

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

describe('ids', () => {
  let project: Project
  let env: Record<string, string>
  const hostile = '$(touch gone)`touch gone`;x "y" \'z.md'

  const config = `
import { agent, defineConfig } from 'agentserve'
const say = agent({ async *run({ text }) { yield text } })
export default defineConfig({ agents: { docs: say, other: say } })
`

  beforeAll(async () => {
    project = await createProject({ 'agent.config.ts': config, 'notes.md': '# Notes\n\nA note.' })
    const program = `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`
    await project.write('bin/agentserve', program)
    await chmod(join(project.folder, 'bin/agentserve'), 0o755)
    env = { PATH: `${project.folder}/bin:${process.env.PATH}`, HOME: project.folder }
    for (const shell of ['bash', 'zsh', 'fish'] as const) await project.write(shell, completionScript(shell, all))
    await command(project, ['chat', 'docs', '--session', 'my-session', '--message', 'x'])
    await project.write(hostile, '# Hostile\n\nA name.')
    await command(project, ['ingest', '.'])
  })
  afterAll(() => project.remove())

  async function shell(name: string, ...args: string[]): Promise<string[]> {
    const { stdout } = await promisify(execFile)(name, args, { cwd: project.folder, env })
    return stdout.split('\n').filter(Boolean)
  }

  async function bash(...words: string[]): Promise<string[]> {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const script = `source ./bash; COMP_WORDS=(agentserve ${quoted}); COMP_CWORD=${words.length}; _agentserve; printf '%s\\n' "\${COMPREPLY[@]}"`
    return shell('bash', '--norc', '-c', script)
  }

  it('completes agents, sessions, runs and documents from the data folder, in bash', async () => {
    expect(await bash('chat', '')).toEqual(['docs'])
    expect(await bash('sessions', 'show', 'my')).toEqual(['my-session'])
    expect(await bash('chat', 'docs', '--session', 'm')).toEqual(['my-session'])
    expect(await bash('runs', 'list', '--agent', '')).toEqual(['docs'])
    expect(await bash('runs', 'show', '')).toHaveLength(1)
    expect(await bash('knowledge', 'show', 'no')).toEqual(['notes.md'])
    expect(await bash('sessions', 'sh')).toEqual(['show'])
    expect(await bash('chat', '--mess')).toEqual(['--message'])
  })

  it('takes ids for what they are, whatever they say', async () => {
    const [quoted = ''] = await bash('knowledge', 'delete', '$')
    expect(await shell('bash', '--norc', '-c', `printf '%s\\n' ${quoted}`)).toEqual([hostile])
    expect(await readdir(project.folder)).not.toContain('gone')
  })

  it('completes the agents of a running server too', async () => {
    const server = await serve(project, 'start')
    try {
      await expect.poll(() => bash('chat', '')).toEqual(['docs', 'other'])
      expect(await bash('sessions', 'show', 'my')).toEqual(['my-session'])
    } finally {
      await server.stop()
    }
  })

  it('offers nothing where there is nothing, and does not wait', async () => {
    const empty = await createProject()
    const { stdout, stderr, code } = await command(empty, ['completion', 'ids', 'sessions'])
    await empty.write('.agentserve/agentserve.db', 'no database')
    const damaged = await command(empty, ['completion', 'ids', 'runs'])
    expect([stdout, stderr, code, damaged.stdout, damaged.code]).toEqual(['', '', 0, '', 0])
    expect((await command(empty, ['completion', 'ids'])).code).toBe(2)
    await empty.remove()
  })

  // 83 ms where `--version` takes 41 ms, on two busy cores.
  it('takes less than three times as long as the program takes to start', async () => {
    const quickest = async (...args: string[]) => {
      const times: number[] = []
      for (let time = 0; time < 7; time++) {
        const start = performance.now()
        await command(project, args)
        times.push(performance.now() - start)
      }
      return Math.min(...times)
    }
    const start = await quickest('--version')
    expect((await quickest('completion', 'ids', 'sessions')) / start).toBeLessThan(3)
  })

  it.skipIf(!isInstalled('fish'))('completes ids in fish', async () => {
    const offer = async (line: string) =>
      (await shell('fish', '--no-config', '-c', `source ./fish; complete -C ${JSON.stringify(line)}`)).map(
        (found) => found.split('\t')[0],
      )
    expect(await offer('agentserve chat ')).toContain('docs')
    expect(await offer('agentserve sessions show my')).toEqual(['my-session'])
    expect(await offer('agentserve runs list --agent ')).toContain('docs')
    expect(await offer('agentserve sessions sh')).toEqual(['show'])
  })

  it.skipIf(!isInstalled('zsh'))('completes ids in zsh', async () => {
    // Completion itself needs a terminal: here, what it would add is printed.
    const offer = async (...words: string[]) =>
      shell(
        'zsh',
        '-f',
        '-c',
        `compdef() {}; compadd() { print -rl -- \${(P)2} }; _files() { print files }; source ./zsh
words=(${words.join(' ')}); _agentserve_program=agentserve; _agentserve_rest`,
      )
    expect(await offer('sessions', 'show', 'm')).toEqual(['my-session'])
    expect(await offer('knowledge', 'show', 'n')).toEqual(expect.arrayContaining([hostile, 'notes.md']))
    expect(await offer('sessions', 'import', 'n')).toEqual(['files'])
  })
})

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))
}

it.each(['zsh', 'fish'] as const)('writes every command and flag for %s', (shell) => {
  const script = completionScript(shell, all)
  for (const command of all) {
    expect(script).toContain(command.name())
    for (const { long } of command.options) expect(script).toContain(long?.slice(2))
  }
})
