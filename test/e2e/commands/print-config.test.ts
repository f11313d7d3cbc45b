import { realpath } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bin, command, createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const key = 'a-real-key-of-the-server-0123456789'
const config = `import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  server: { mcp: { path: '/tools' }, auth: { keys: ['${key}'] } },
  agents: { say: agent({ sideEffects: false, run: () => ['hi'] }) },
})`

let project: Project
let folder: string

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  folder = await realpath(project.folder)
})
afterAll(() => project.remove())

it('prints only what is pasted on stdout, and where it goes on stderr', async () => {
  const { code, stdout, stderr } = await command(project, ['mcp', '--print-config', 'claude-code'])
  const args = [bin, 'mcp', '--folder', folder]
  const expected = { mcpServers: { agentserve: { type: 'stdio', command: process.execPath, args } } }
  expect({ code, printed: JSON.parse(stdout) }).toEqual({ code: 0, printed: expected })
  expect(stderr).toContain('Into .mcp.json')
})

it('prints one line of JSON with --json', async () => {
  const { stdout } = await command(project, ['mcp', '--print-config', 'codex', '--json'])
  const { text, ...rest } = JSON.parse(stdout)
  expect(rest).toMatchObject({ host: 'codex', transport: 'stdio', note: null })
  expect(text).toContain('[mcp_servers.agentserve]')
})

it('names the hosts when one is unknown, with exit code 2', async () => {
  const { code, stdout, stderr } = await command(project, ['mcp', '--print-config', 'emacs'])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  for (const host of ['claude-desktop', 'cursor', 'gemini-cli', 'chatgpt']) expect(stderr).toContain(host)
})

it.each([
  [['claude-desktop', '--http'], 'takes no URL'],
  [['cursor', '--http', '--url', 'nonsense'], 'is no URL'],
  [['cursor', '--http', '--url', 'https://me:pass@x.example'], 'Leave them out'],
  [['cursor', '--folder', 'nowhere'], '--folder nowhere'],
])('says what is wrong with %j, with exit code 2', async (args, said) => {
  const { code, stdout, stderr } = await command(project, ['mcp', '--print-config', ...args])
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(said)
})

it('keeps the path of a named URL, and otherwise adds the usual one', async () => {
  const url = async (named: string) => {
    const { stdout } = await command(project, ['mcp', '--print-config', 'cursor', '--http', '--url', named])
    return JSON.parse(stdout).mcpServers.agentserve.url
  }
  expect(await url('https://agents.example.com')).toBe('https://agents.example.com/mcp')
  expect(await url('https://agents.example.com/a/b')).toBe('https://agents.example.com/a/b')
})

it('knows the running server, its path, and that it needs a key, and prints no key', async () => {
  const server: RunningServer = await serve(project, 'start')
  try {
    const asked = { AGENTSERVE_KEY: key }
    const http = await command(project, ['mcp', '--print-config', 'cursor', '--http'], '', asked)
    expect(JSON.parse(http.stdout).mcpServers.agentserve).toEqual({
      url: `${server.url}/tools`,
      headers: { Authorization: `Bearer \${env:AGENTSERVE_KEY}` },
    })
    const stdio = await command(project, ['mcp', '--print-config', 'cursor'], '', asked)
    expect(stdio.stderr).toContain(`A server is running at ${server.url}.`)
    expect(stdio.stderr).toContain('mcp --print-config cursor --http')
    for (const { stdout, stderr } of [http, stdio]) expect(stdout + stderr).not.toContain(key)
  } finally {
    await server.stop()
  }
})
