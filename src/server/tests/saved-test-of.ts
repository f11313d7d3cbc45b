import { AppError } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import { shownBytes } from '../../core/limits.ts'
import { isTurn, type Run } from '../../core/run.ts'
import type { Services } from '../../service/services.ts'
import type { RunToSave, SavedTest } from '../../testing/saved-test.ts'
import { maxFileBytes } from './project-files.ts'

const maxTurns = 1000

/** A session as a test, read with the rights of a caller. Holds the record of one turn at a time. */
export async function savedTestOf(services: Services, sessionId: string): Promise<SavedTest> {
  const { entityOf, toTurn } = await import('../../testing/saved-test.ts')
  await services.sessions.get(sessionId)
  const runs = await turnsOf(services, sessionId)
  const entity = entityOf(runs)
  const turns: SavedTest['turns'] = []
  let bytes = 0
  for (const { run_id: runId } of runs) {
    const turn = toTurn(await readRun(services, runId))
    bytes += Buffer.byteLength(JSON.stringify(turn))
    if (bytes > maxFileBytes) {
      const most = shownBytes(maxFileBytes)
      throw new AppError(
        'invalid_request',
        `The session's record has more than ${most}, the most that a test can have.`,
      )
    }
    turns.push(turn)
  }
  return { agentserve: 'session-test/1', entity, tools: 'recorded', turns }
}

/** The turns of the conversation, oldest first. */
async function turnsOf(services: Services, sessionId: string): Promise<Run[]> {
  const turns: Run[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await services.runs.list({ session_id: sessionId }, { limit: 100, cursor })
    turns.push(...page.items.filter((run) => isTurn(run) && run.replaced_by === null))
    if (turns.length > maxTurns) {
      throw new AppError(
        'invalid_request',
        `The session has more than ${maxTurns} turns, the most that a test can have.`,
      )
    }
    if (page.next === null) return turns.toReversed()
    cursor = page.next
  }
}

async function readRun(services: Services, runId: string): Promise<RunToSave> {
  const run = await services.runs.get(runId)
  const events: RunEvent[] = []
  const members: RunToSave[] = []
  // Its events would go on until its end; `toTurn` refuses it.
  if (run.status === 'queued' || run.status === 'running') return { run, events, members }
  const recorded = await services.runs.events(runId, 0)
  for await (const batch of services.runs.withPrompts(runId, recorded)) events.push(...batch)
  for (const event of events) {
    if (event.type === 'step_start' && event.child_run_id !== undefined) {
      members.push(await readRun(services, event.child_run_id))
    }
  }
  return { run, events, members }
}
