import { type AppError, invalid, isAppError } from '../../../../core/error.ts'
import type { RunStart } from '../../../../core/run-write.ts'
import type { Write } from './group.ts'
import { failureOf } from './persistence.ts'

/** Of what is in an index. */
const maxBytes = 1_024

/** Why a write can't be stored, when it is a text of a column of its own: JSON can have any text. */
export function explainUnstorable(write: Write, error: unknown): AppError | undefined {
  const isOfText = failureOf(error) === 'row' || (isAppError(error) && error.code === 'invalid_request')
  if (write.kind !== 'start' || !isOfText) return undefined
  for (const [path, text] of textsOf(write.start)) {
    if (typeof text !== 'string') continue
    if (text.includes('\0')) return invalid(`'${path}' must not have the character U+0000.`, path)
    if (!text.isWellFormed()) return invalid(`'${path}' has half of a character.`, path)
    if (path !== 'session.name' && Buffer.byteLength(text) > maxBytes)
      return invalid(`'${path}' must have at most ${maxBytes} bytes.`, path)
  }
  return undefined
}

function textsOf({ run, session, claim }: RunStart): [path: string, text: unknown][] {
  return [
    ['run_id', run.run_id],
    ['session_id', run.session_id],
    ['entity_id', run.entity_id],
    ['parent_run_id', run.parent_run_id],
    ['user_id', run.user_id],
    ['session.agent_id', session?.agent_id],
    ['session.team_id', session?.team_id],
    ['session.workflow_id', session?.workflow_id],
    ['session.user_id', session?.user_id],
    ['session.name', session?.name],
    ['claim.key', claim?.key],
  ]
}
