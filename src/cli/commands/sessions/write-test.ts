import { join, relative } from 'node:path'
import type { Client } from '../../../client/client.ts'
import { toWriteError } from '../../command/file-error.ts'
import { hint } from '../../terminal/called-as.ts'
import { printJson, say } from '../../terminal/output.ts'
import { terminalLine } from '../../terminal/text.ts'

export interface SaveTestOptions {
  /** Default: `test/<session>.session.json`. */
  to?: string | undefined
  liveTools?: boolean | undefined
  json: boolean
}

/** Writes a session as a test for `agentserve test`. Never overwrites. */
export async function saveTest(client: Client, sessionId: string, options: SaveTestOptions): Promise<void> {
  const { writeTestFile } = await import('../../../testing/test-files.ts')
  const saved = await client.sessions.test(sessionId)
  const test = { ...saved, tools: options.liveTools === true ? 'live' : saved.tools } as const
  const file = options.to ?? join('test', `${sessionId.replace(/[^\w.-]/g, '_')}.session.json`)
  try {
    await writeTestFile(process.cwd(), file, test, 'Name another file with --to, or delete this one.')
  } catch (error) {
    throw toWriteError(error, terminalLine(file))
  }
  const path = relative(process.cwd(), file) || file
  if (options.json) printJson({ file: path, entity: test.entity, turns: test.turns.length, tools: test.tools })
  else {
    const turns = `${test.turns.length} turn${test.turns.length === 1 ? '' : 's'}`
    say(`Wrote ${terminalLine(path)}: ${turns} with '${terminalLine(test.entity)}'. Replay it: ${hint('test')}`)
  }
}
