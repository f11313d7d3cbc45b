import { z } from 'zod'
import { choose, flag, settings } from '../../schema/field.ts'
import { path } from './path.ts'

/** The OpenAI-compatible routes. Their paths don't follow `server.prefix`: clients want `/v1`. */
const openaiFields = settings({
  prefix: path().prefault('/v1'),
  /** Whether requests with the same `user` share a session. For clients whose `user` names a conversation, and not a person. */
  sessionFromUser: flag().default(false),
  /** Whether chat completions say which tools are called, as reasoning. */
  showTools: flag().default(false),
})

/** The MCP server. Its path does not follow `server.prefix`. */
const mcpFields = settings({
  path: path().prefault('/mcp'),
  /** Whether the model of the host may approve tool calls, and not only a person. */
  approveByTool: flag().default(false),
})

const off = () => z.literal(false)

type OpenAI = z.ZodType<false | z.output<typeof openaiFields>, false | z.input<typeof openaiFields>>
type Mcp = z.ZodType<false | z.output<typeof mcpFields>, false | z.input<typeof mcpFields>>
export const openaiSettings = choose((value): OpenAI => (value === false ? off() : openaiFields))
export const mcpSettings = choose((value): Mcp => (value === false ? off() : mcpFields))

export interface PathSettings {
  prefix: string
  healthPath: string
  a2a: { prefix: string }
  openai: false | { prefix: string }
  mcp: false | { path: string }
  studio: false | { path: string }
}

export interface PathClash {
  /** Of the setting within `server`. */
  path: string[]
  message: string
}

const fixed: readonly [what: string, path: string][] = [
  ['the documentation page', '/docs'],
  ["A2A's discovery", '/.well-known'],
]

/** Settings that give two things the same path: without an error one of them would be served and the other one not. */
export function findClashes({ prefix, healthPath, a2a, openai, mcp, studio }: PathSettings): PathClash[] {
  const taken: [what: string, path: string][] = [...fixed, ['server.prefix', prefix], ['server.healthPath', healthPath]]
  const clashes: PathClash[] = []
  const take = (setting: string[], given: string) => {
    const other = taken.find(([, at]) => at === given)
    const where = given || '/'
    if (other !== undefined)
      clashes.push({ path: setting, message: `is '${where}', and that is ${other[0]}: change one of them` })
    taken.push([`server.${setting.join('.')}`, given])
  }
  take(['a2a', 'prefix'], a2a.prefix)
  if (openai !== false) take(['openai', 'prefix'], openai.prefix)
  if (mcp !== false) take(['mcp', 'path'], mcp.path)
  if (studio !== false) take(['studio', 'path'], studio.path)
  return clashes
}
