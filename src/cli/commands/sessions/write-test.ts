import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Client } from '../../../client/client.ts'
import { AppError } from '../../../core/error.ts'
import type { RunEvent } from '../../../core/event.ts'
import type { RunToSave } from '../../../testing/saved-test.ts'
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
  const { toSavedTest } = await import('../../../testing/saved-test.ts')
  const runs = await readRuns(client, sessionId)
  const test = toSavedTest(runs, options.liveTools === true ? 'live' : 'recorded')
  const file = options.to ?? join('test', `${sessionId.replace(/[^\w.-]/g, '_')}.session.json`)
  await mkdir(dirname(file), { recursive: true })
  try {
    await writeFile(file, `${JSON.stringify(test, undefined, 2)}\n`, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new AppError('conflict', `${file} already exists. Name another file with --to, or delete this one.`)
  }
  const path = relative(process.cwd(), file) || file
  if (options.json) printJson({ file: path, entity: test.entity, turns: test.turns.length, tools: test.tools })
  else {
    const turns = `${test.turns.length} turn${test.turns.length === 1 ? '' : 's'}`
    say(`Wrote ${terminalLine(path)}: ${turns} with '${terminalLine(test.entity)}'. Replay it: ${hint('test')}`)
  }
}

/** The session's runs, oldest first, without the runs of team members. */
async function readRuns(client: Client, sessionId: string): Promise<RunToSave[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await client.sessions.runs(sessionId, {}, { limit: 100, cursor })
    for (const run of page.runs) if (run.parent_run_id === null) ids.push(run.run_id)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  const runs: RunToSave[] = []
  for (const id of ids.toReversed()) runs.push(await readRun(client, id))
  return runs
}

async function readRun(client: Client, runId: string): Promise<RunToSave> {
  const run = await client.runs.get(runId)
  const events: RunEvent[] = []
  for await (const event of await client.runs.events(runId, { includePrompts: true })) events.push(event)
  const members: RunToSave[] = []
  for (const event of events) {
    if (event.type === 'step_start' && event.child_run_id !== undefined) {
      members.push(await readRun(client, event.child_run_id))
    }
  }
  return { run, events, members }
}
