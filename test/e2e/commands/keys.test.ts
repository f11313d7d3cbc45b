import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { command, createProject, type Project, serve } from '../../support/program.ts'

const hash = createHash('sha256').update('what-nobody-here-knows').digest('hex')
const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { echo: agent({ async *run({ text }) { yield text } }) },
  server: {
    auth: {
      keys: [
        { key: 'sha256:${hash}', id: 'operator' },
        { key: 'the-key-of-website', id: 'website', scopes: ['run'] },
        { key: 'the-key-of-ann', userId: 'ann' },
      ],
    },
  },
})
`

describe('a command', () => {
  let project: Project
  beforeAll(async () => {
    project = await createProject({ 'agent.config.ts': config })
  })
  afterAll(() => project.remove())

  test('acts with all scopes without a server, also where only hashes of keys are known', async () => {
    const run = await command(project, ['chat', 'echo'], 'hello there\n')
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('hello there')])
    const list = await command(project, ['sessions', 'list', '--json'])
    expect([list.code, list.stderr]).toEqual([0, ''])
    const prune = await command(project, ['sessions', 'prune', '--older-than', '1d', '--yes'])

    expect(prune.code).toBe(0)
  })

  test('says with a server which scope its key lacks, and the log names the key by its id', async () => {
    const server = await serve(project, 'start')
    const as = (key: string, args: string[], input = '') =>
      command(project, [...args, '--url', server.url, '--key', key], input)
    try {
      const run = await as('the-key-of-website', ['chat', 'echo'], 'hello\n')
      expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('hello')])
      const list = await as('the-key-of-website', ['sessions', 'list'])
      expect([list.code, list.stdout]).toEqual([1, ''])
      expect(list.stderr).toContain("Your key does not have the scope 'sessions'. Use a key that has it.")
      const added = await as('the-key-of-ann', ['knowledge', 'reindex'])
      expect([added.code, added.stderr]).toEqual([1, expect.stringContaining("'knowledge:write'")])
      expect((await as('what-nobody-here-knows', ['sessions', 'list'])).code).toBe(0)
      expect((await as(`sha256:${hash}`, ['sessions', 'list'])).code).toBe(1)
    } finally {
      await server.stop()
    }
    const log = server.stdout() + server.stderr()
    for (const id of ['website', 'key:2', 'operator']) expect(log).toContain(id)
    for (const secret of ['the-key-of', hash, 'what-nobody']) expect(log).not.toContain(secret)
  })

  test('does not start a server with a key that can be guessed where others can reach it', async () => {
    const { code, stderr } = await command(project, ['start', '--host', '0.0.0.0', '--port', '0'])
    expect(code).not.toBe(0)
    expect(stderr).toContain("The API key 'key:2' has 14 characters: use at least 16 random ones")
    expect(stderr).not.toContain('the-key-of-ann')
  })
})
