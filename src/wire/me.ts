import { z } from 'zod'
import { scopes } from '../core/access/scope.ts'
import { component } from './document/component.ts'

export const ServerMode = z.enum(['dev', 'start', 'command', 'embedded'])
/** Who serves: `agentserve dev` or `start`, another command that found no server, or a program with `createServer`. */
export type ServerMode = z.infer<typeof ServerMode>

const may = (what: string) => z.boolean().describe(what)

export const Me = component(
  'Me',
  z.object({
    user_id: z
      .string()
      .nullable()
      .describe('The user that the key or token belongs to. Null: it sees the data of all users.'),
    key_id: z
      .string()
      .exactOptional()
      .describe('The id of the key, or `jwt:` and the user of the token. Absent if the server needs neither.'),
    scopes: z.array(z.enum(scopes)).describe('What the key may do.'),
    can: z.object({
      again: may('Repeat runs with edits.'),
      tests: may('Save and run tests.'),
      config: may('Read the configuration of agents.'),
      knowledge: may('Add and delete documents.'),
      prompts: may('Read exact prompts.'),
    }),
    mode: ServerMode,
    version: z.string(),
    server_id: z.string().describe('Changes with each start of the server.'),
    root: z.string().exactOptional().describe("The project's folder. Only in `dev`, and only for operators."),
  }),
)
export type Me = z.infer<typeof Me>
