import type { z } from 'zod'
import {
  address,
  choose,
  duration,
  isObject,
  list,
  oneOf,
  settings,
  sound,
  string,
  text,
  textByName,
} from '../../schema/field.ts'

const limits = {
  /** Until it has started and told its tools; default 60 s, since `npx` may download first. */
  startTimeout: duration().prefault('60s'),
  /** Of one call; default 60 s. */
  timeout: duration().prefault('60s'),
  /** The only tools that are used of it; default all. */
  tools: list(string()).readonly().optional(),
}

const processSettings = settings({
  command: text(),
  args: list(string()).readonly().optional(),
  /** What it gets besides PATH, HOME and the like; nothing else of our environment. */
  env: textByName().readonly().optional(),
  /** From the folder of the config; default that folder. */
  cwd: text().optional(),
  type: oneOf(['stdio']).optional(),
  ...limits,
})

const endpointSettings = settings({
  url: address(),
  headers: textByName().readonly().optional(),
  /** `http` (default): streamable HTTP; `sse`: its predecessor. */
  type: oneOf(['http', 'streamable-http', 'sse']).optional(),
  ...limits,
})

/** A server that is run as a child process and spoken to over its stdin and stdout. */
export interface McpProcess extends z.input<typeof processSettings> {}
/** A server that is reached over HTTP. */
export interface McpEndpoint extends z.input<typeof endpointSettings> {}
export type McpServer = McpProcess | McpEndpoint

export interface CheckedProcess extends z.output<typeof processSettings> {}
export interface CheckedEndpoint extends z.output<typeof endpointSettings> {}
/** With every default. */
export type CheckedServer = CheckedProcess | CheckedEndpoint

export const serverSettings: z.ZodType<CheckedServer, McpServer> = choose(
  (value): z.ZodType<CheckedServer, McpServer> => {
    const { command, url } = isObject(value) ? value : {}
    if (command === undefined && url === undefined) {
      return sound<never>(() => 'must be { command, args, env, cwd } or { url, headers }')
    }
    if (command !== undefined && url !== undefined) {
      return sound<never>(() => 'must have a `command` or a `url`, not both')
    }
    return url === undefined ? processSettings : endpointSettings
  },
)

export function isEndpoint(server: CheckedServer): server is CheckedEndpoint {
  return 'url' in server && server.url !== undefined
}
