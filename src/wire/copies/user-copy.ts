import { z } from 'zod'
import { id, integer, moment } from '../../schema/request-field.ts'
import { component } from '../document/component.ts'
import { Fact } from '../fact.ts'
import { SessionCopyLine } from './session-copy.ts'

/*
 * Everything of one user as JSON lines: the user, the user's own sessions in the format of an export, other users'
 * sessions that name the user, the user's runs in them, each followed by its events and files, the facts about the user, and totals.
 */

const version = 1

const UserLine = z.object({ type: z.literal('user'), version: z.literal(version), user_id: id(), exported_at: moment })
const SharedLine = z.object({ type: z.literal('shared'), session_id: id() })
const FactLine = z.object({ type: z.literal('fact'), fact: Fact })
const UserEndLine = z.object({ type: z.literal('user_end'), sessions: integer(0), runs: integer(0), facts: integer(0) })

export const UserCopyLine = component(
  'UserCopyLine',
  z.union([UserLine, SessionCopyLine, SharedLine, FactLine, UserEndLine]),
)

type OwnLine =
  | Omit<z.infer<typeof UserLine>, 'version'>
  | z.infer<typeof SharedLine | typeof FactLine | typeof UserEndLine>

/** A line that session copies don't have. */
export function userLine({ type, ...line }: OwnLine): string {
  return `${JSON.stringify({ type, ...(type === 'user' && { version }), ...line })}\n`
}
