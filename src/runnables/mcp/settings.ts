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
  /** Until the server has listed its tools; default 60 s, because `npx` may download first. */
  startTimeout: duration().prefault('60s'),
  /** Per call; default 60 s. */
  timeout: duration().prefault('60s'),
  /** The only tools that are used; default all. */
  tools: list(string()).readonly().optional(),
}

const processSettings = settings({
  command: text(),
  args: list(string()).readonly().optional(),
  /** Variables besides PATH, HOME and the like; nothing else of our environment is passed on. */
  env: textByName().readonly().optional(),
  /** Relative to the config's folder; default that folder. */
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

/** A server that runs as a child process and uses its stdin and stdout. */
export interface McpProcess extends z.input<typeof processSettings> {}
export interface McpEndpoint extends z.input<typeof endpointSettings> {}
export type McpServer = McpProcess | McpEndpoint

export interface CheckedProcess extends z.output<typeof processSettings> {}
export interface CheckedEndpoint extends z.output<typeof endpointSettings> {}
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
