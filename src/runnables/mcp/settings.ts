import type { Duration } from '../../core/duration.ts'
import { checkSettings, describe, duration, isObject, oneOf, type SettingRule, wrong } from '../base/setting-check.ts'

interface McpLimits {
  /** Until it has started and told its tools; default 60 s, since `npx` may download first. */
  startTimeout?: Duration
  /** Of one call; default 60 s. */
  timeout?: Duration
  /** The only tools that are used of it; default all. */
  tools?: readonly string[]
}

/** A server that is run as a child process and spoken to over its stdin and stdout. */
export interface McpProcess extends McpLimits {
  command: string
  args?: readonly string[]
  /** What it gets besides PATH, HOME and the like; nothing else of our environment. */
  env?: Readonly<Record<string, string>>
  /** From the folder of the config; default that folder. */
  cwd?: string
  type?: 'stdio'
}

/** A server that is reached over HTTP. */
export interface McpEndpoint extends McpLimits {
  url: string
  headers?: Readonly<Record<string, string>>
  /** `http` (default): streamable HTTP; `sse`: its predecessor. */
  type?: 'http' | 'streamable-http' | 'sse'
}

export type McpServer = McpProcess | McpEndpoint

export function isEndpoint(server: McpServer): server is McpEndpoint {
  return 'url' in server && server.url !== undefined
}

const text: SettingRule = (value) =>
  typeof value === 'string' && value !== '' ? undefined : `must be a text that is not empty, not ${describe(value)}`
const texts: SettingRule = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? undefined : 'must be a list of texts'
// Values are secrets as often as not: they are not shown.
const textByName: SettingRule = (value) => {
  const wrongKey = isObject(value) ? Object.keys(value).find((key) => typeof value[key] !== 'string') : ''
  if (wrongKey === undefined) return undefined
  return wrongKey === '' ? 'must be an object of texts' : `must have a text for '${wrongKey}'; is a variable not set?`
}
const address: SettingRule = (value) =>
  typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value)
    ? undefined
    : `must be an http or https address, not ${describe(value)}`

const limits = { startTimeout: duration, timeout: duration, tools: texts }
const processRules = { command: text, args: texts, env: textByName, cwd: text, type: oneOf('stdio'), ...limits }
const endpointRules = {
  url: address,
  headers: textByName,
  type: oneOf('http', 'streamable-http', 'sse'),
  ...limits,
}

/** Throws `invalid_request` naming the key. */
export function checkMcpServer(subject: string, server: unknown): asserts server is McpServer {
  if (!isObject(server) || (server.command === undefined && server.url === undefined)) {
    throw wrong('', `${subject} needs { command, args, env, cwd } or { url, headers }`)
  }
  if (server.command !== undefined && server.url !== undefined) {
    throw wrong('url', `${subject} has a \`command\` and a \`url\`; leave one of them out`)
  }
  checkSettings(subject, server, server.url === undefined ? processRules : endpointRules)
}
