import { describe, expect, it } from 'vitest'
import { hostNames, hosts, type ProgramEntry, type UrlEntry } from '../../../src/cli/mcp/hosts.ts'
import { type Launch, programEntry } from '../../../src/cli/mcp/print-config.ts'
import { version } from '../../../src/core/version.ts'

const program: ProgramEntry = {
  transport: 'stdio',
  command: 'C:\\Program Files\\nodejs\\node.exe',
  args: ['C:\\it\'s "here"\\agentserve.js', 'mcp', '--folder', 'C:\\docs\t\u007f'],
  environment: { AGENTSERVE_URL: 'http://127.0.0.1:8080' },
}
const address: UrlEntry = { transport: 'http', url: 'https://agents.example.com/mcp', needsKey: true }

function parsed(text: string): Record<string, unknown> {
  return JSON.parse(text)
}

describe('what is pasted into a host', () => {
  it.each(hostNames.filter((name) => hosts[name].stdio !== undefined))('%s starts the program as given', (name) => {
    const text = hosts[name].stdio?.(program).text ?? ''
    if (name === 'codex') {
      // A TOML basic string has the escapes of JSON.
      expect(text.split('\n')).toEqual([
        '[mcp_servers.agentserve]',
        `command = ${JSON.stringify(program.command)}`,
        `args = [${program.args.map((arg) => JSON.stringify(arg).replace('\u007f', '\\u007f')).join(', ')}]`,
        '',
        '[mcp_servers.agentserve.env]',
        'AGENTSERVE_URL = "http://127.0.0.1:8080"',
      ])
      return
    }
    const server = findServer(parsed(text))
    const command = Array.isArray(server.command) ? server.command : [server.command, ...(server.args as string[])]
    expect(command).toEqual([program.command, ...program.args])
    expect(server.env ?? server.environment).toEqual(program.environment)
  })

  it.each(hostNames.filter((name) => hosts[name].http !== undefined))('%s calls the URL with no real key', (name) => {
    const text = hosts[name].http?.(address).text ?? ''
    expect(text).toContain(address.url)
    const key =
      /Bearer (?:\$\{AGENTSERVE_KEY\}|\$\{env:AGENTSERVE_KEY\}|\$\{input:agentserve-key\}|\$AGENTSERVE_KEY|\{env:AGENTSERVE_KEY\}|YOUR_KEY)"/
    if (name === 'codex') expect(text).toContain('bearer_token_env_var = "AGENTSERVE_KEY"')
    else if (name !== 'chatgpt') expect(text).toMatch(key)
  })

  it.each(hostNames.filter((name) => hosts[name].http !== undefined))('%s gets no key where none is needed', (name) => {
    expect(hosts[name].http?.({ ...address, needsKey: false }).text).not.toMatch(/key|bearer/i)
  })

  it('has the fields of each host', () => {
    const stdio = { ...program, command: 'node', args: ['a.js'], environment: {} }
    expect(parsed(hosts['claude-code'].stdio?.(stdio).text ?? '')).toEqual({
      mcpServers: { agentserve: { type: 'stdio', command: 'node', args: ['a.js'] } },
    })
    expect(parsed(hosts.vscode.stdio?.(stdio).text ?? '')).toEqual({
      servers: { agentserve: { type: 'stdio', command: 'node', args: ['a.js'] } },
    })
    expect(parsed(hosts.vscode.http?.(address).text ?? '')).toMatchObject({
      inputs: [{ type: 'promptString', id: 'agentserve-key', password: true }],
      servers: { agentserve: { type: 'http', url: address.url } },
    })
    expect(parsed(hosts.windsurf.http?.(address).text ?? '')).toMatchObject({
      mcpServers: { agentserve: { serverUrl: address.url } },
    })
    expect(parsed(hosts['gemini-cli'].http?.(address).text ?? '')).toMatchObject({
      mcpServers: { agentserve: { httpUrl: address.url } },
    })
    expect(parsed(hosts.opencode.stdio?.(stdio).text ?? '')).toMatchObject({
      mcp: { servers: { agentserve: { type: 'local', command: ['node', 'a.js'] } } },
    })
    expect(hosts['claude-desktop'].http).toBeUndefined()
    expect(hosts.chatgpt.stdio).toBeUndefined()
    expect(hosts.chatgpt.http?.(address).text).toBe(address.url)
  })
})

describe('how a host starts the program', () => {
  const launch: Launch = { script: '/p/node_modules/.bin/agentserve', node: '/n/node', folder: '/p', platform: 'linux' }

  it('names Node, the script and the folder, so that neither PATH nor the working folder matters', () => {
    expect(programEntry(launch, {})).toEqual({
      transport: 'stdio',
      command: '/n/node',
      args: ['/p/node_modules/.bin/agentserve', 'mcp', '--folder', '/p'],
      environment: {},
    })
  })

  it('repeats what it was given, with whole paths, and never a key', () => {
    const given = { config: 'a.ts', data: 'data', agent: ['docs', 'desk'], url: 'https://x.example', key: 'secret-key' }
    const entry = programEntry(launch, given)
    expect(entry.args.slice(4)).toEqual([
      '--config',
      '/p/a.ts',
      '--data',
      '/p/data',
      '--agent',
      'docs',
      '--agent',
      'desk',
    ])
    expect(entry.environment).toEqual({ AGENTSERVE_URL: 'https://x.example', AGENTSERVE_KEY: 'YOUR_KEY' })
    expect(JSON.stringify(entry)).not.toContain('secret-key')
  })

  it.each([
    ['linux', ['npx', '-y', `agentserve@${version}`]],
    ['win32', ['cmd', '/c', 'npx', '-y', `agentserve@${version}`]],
  ] as const)('runs through npx on %s when the script is in its cache', (platform, words) => {
    const script = '/home/me/.npm/_npx/5a3/node_modules/.bin/agentserve'
    const { command, args } = programEntry({ ...launch, script, platform }, {})
    expect([command, ...args]).toEqual([...words, 'mcp', '--folder', '/p'])
  })
})

function findServer(value: Record<string, unknown>): Record<string, unknown> {
  const found = value.agentserve
  if (found !== undefined) return found as Record<string, unknown>
  const [inner] = Object.values(value).filter((part) => typeof part === 'object' && part !== null)
  return findServer(inner as Record<string, unknown>)
}
