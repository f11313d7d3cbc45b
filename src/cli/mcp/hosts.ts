export interface ProgramEntry {
  transport: 'stdio'
  command: string
  args: readonly string[]
  environment: Readonly<Record<string, string>>
}

export interface UrlEntry {
  transport: 'http'
  url: string
  needsKey: boolean
}

/** What to paste, and where. */
export interface Pasted {
  /** A file, or a page of settings. */
  into: string
  text: string
  /** What is left to do. */
  note?: string
}

export type Host = {
  /** How the host starts the program; absent when it starts none. */
  stdio?: (entry: ProgramEntry) => Pasted
  /** How the host calls a URL; absent when its file takes none. */
  http?: (entry: UrlEntry) => Pasted
}

export const hostNames = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'windsurf',
  'zed',
  'codex',
  'gemini-cli',
  'opencode',
  'chatgpt',
] as const

export type HostName = (typeof hostNames)[number]

const name = 'agentserve'
const keyVariable = 'AGENTSERVE_KEY'
const setsVariable = `Set ${keyVariable} where the host is started.`

/** The forms that the documentation of each host showed in October and November 2026. */
export const hosts: Record<HostName, Host> = {
  'claude-code': {
    stdio: (entry) => servers('.mcp.json in the project', { type: 'stdio', ...program(entry) }),
    http: (entry) =>
      servers('.mcp.json in the project', { type: 'http', ...address('url', entry, `\${${keyVariable}}`) }, entry),
  },
  'claude-desktop': {
    stdio: (entry) => ({
      ...servers(
        'claude_desktop_config.json (macOS: ~/Library/Application Support/Claude, Windows: %APPDATA%\\Claude)',
        program(entry),
      ),
      note: 'Restart the app.',
    }),
  },
  cursor: {
    stdio: (entry) => servers('.cursor/mcp.json in the project, or ~/.cursor/mcp.json', program(entry)),
    http: (entry) =>
      servers(
        '.cursor/mcp.json in the project, or ~/.cursor/mcp.json',
        address('url', entry, `\${env:${keyVariable}}`),
        entry,
      ),
  },
  vscode: {
    stdio: (entry) => ({
      into: '.vscode/mcp.json in the project',
      text: json({ servers: { [name]: { type: 'stdio', ...program(entry) } } }),
    }),
    http(entry) {
      const id = 'agentserve-key'
      const inputs = [{ type: 'promptString', id, description: 'API key of agentserve', password: true }]
      const server = { type: 'http', ...address('url', entry, `\${input:${id}}`) }
      return {
        into: '.vscode/mcp.json in the project',
        text: json({ ...(entry.needsKey && { inputs }), servers: { [name]: server } }),
        ...(entry.needsKey && { note: 'The editor asks for the key once, and keeps it.' }),
      }
    },
  },
  windsurf: {
    stdio: (entry) => servers('~/.codeium/windsurf/mcp_config.json (Windsurf, now Devin Desktop)', program(entry)),
    http: (entry) =>
      servers(
        '~/.codeium/windsurf/mcp_config.json (Windsurf, now Devin Desktop)',
        address('serverUrl', entry, `\${env:${keyVariable}}`),
        entry,
      ),
  },
  zed: {
    stdio: (entry) => ({
      into: 'the settings file of Zed',
      text: json({ context_servers: { [name]: program(entry) } }),
    }),
    http: (entry) => ({
      into: 'the settings file of Zed',
      text: json({ context_servers: { [name]: address('url', entry, 'YOUR_KEY') } }),
      ...(entry.needsKey && { note: 'Write the key in place of YOUR_KEY.' }),
    }),
  },
  codex: {
    stdio: ({ command, args, environment }) => ({
      into: '~/.codex/config.toml, or .codex/config.toml in a trusted project',
      text: [
        `[mcp_servers.${name}]`,
        `command = ${toml(command)}`,
        `args = [${args.map(toml).join(', ')}]`,
        ...(Object.keys(environment).length === 0 ? [] : ['', `[mcp_servers.${name}.env]`]),
        ...Object.entries(environment).map(([variable, value]) => `${variable} = ${toml(value)}`),
      ].join('\n'),
    }),
    http: ({ url, needsKey }) => ({
      into: '~/.codex/config.toml, or .codex/config.toml in a trusted project',
      text: [
        `[mcp_servers.${name}]`,
        `url = ${toml(url)}`,
        ...(needsKey ? [`bearer_token_env_var = ${toml(keyVariable)}`] : []),
      ].join('\n'),
      ...(needsKey && { note: setsVariable }),
    }),
  },
  'gemini-cli': {
    stdio: (entry) => servers('.gemini/settings.json in the project, or ~/.gemini/settings.json', program(entry)),
    http: (entry) =>
      servers(
        '.gemini/settings.json in the project, or ~/.gemini/settings.json',
        address('httpUrl', entry, `$${keyVariable}`),
        entry,
      ),
  },
  opencode: {
    stdio({ command, args, environment }) {
      const isEmpty = Object.keys(environment).length === 0
      return openCode({ type: 'local', command: [command, ...args], ...(!isEmpty && { environment }) })
    },
    http: (entry) => openCode({ type: 'remote', ...address('url', entry, `{env:${keyVariable}}`) }, entry),
  },
  chatgpt: {
    http: ({ url, needsKey }) => ({
      into: 'Settings > Apps > Advanced settings > Developer mode, then Create: "MCP Server URL"',
      text: url,
      note: [
        'ChatGPT needs an https address that the internet can reach.',
        ...(needsKey
          ? ['It sends a key only if its form offers a token; else put a gateway with OAuth in front.']
          : []),
      ].join(' '),
    }),
  },
}

function program({ command, args, environment }: ProgramEntry) {
  return { command, args, ...(Object.keys(environment).length > 0 && { env: environment }) }
}

/** `key`: how the host writes a value that is not in its file. */
function address(field: 'url' | 'httpUrl' | 'serverUrl', { url, needsKey }: UrlEntry, key: string) {
  return { [field]: url, ...(needsKey && { headers: { Authorization: `Bearer ${key}` } }) }
}

function servers(into: string, server: object, entry?: UrlEntry): Pasted {
  const text = json({ mcpServers: { [name]: server } })
  return { into, text, ...(entry?.needsKey === true && { note: setsVariable }) }
}

function openCode(server: object, entry?: UrlEntry): Pasted {
  return {
    into: 'opencode.json in the project, or ~/.config/opencode/opencode.json',
    text: json({ $schema: 'https://opencode.ai/config.json', mcp: { servers: { [name]: server } } }),
    note: `${entry?.needsKey === true ? `${setsVariable} ` : ''}Before version 2, leave out the level "servers".`,
  }
}

function json(value: object): string {
  return JSON.stringify(value, undefined, 2)
}

/** A basic string of TOML has the escapes of JSON. */
function toml(value: string): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}
