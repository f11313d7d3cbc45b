import type { RunsClient } from '../../../client/runs.ts'
import { formatCost } from '../../runs/cost.ts'
import { replacedBy } from '../../runs/facts.ts'
import { between } from '../../runs/line.ts'
import { resumeHint, waitingLines } from '../../runs/waiting.ts'
import { formatDuration } from '../../terminal/duration.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalLine } from '../../terminal/text.ts'
import { tableTime } from '../../terminal/when.ts'
import type { RunsAction } from './action.ts'

type Run = Awaited<ReturnType<RunsClient['list']>>['runs'][number]

const defaultLimit = 20
const pageLimit = 100

/** The newest runs of all sessions, page by page up to `--limit`. */
export const listRuns: RunsAction = async ({ client, options, json, signal }) => {
  const { session, agent, team, workflow, status, limit = defaultLimit } = options
  const filter = { session_id: session, agent_id: agent ?? team ?? workflow, status }
  const runs: Run[] = []
  let cursor: string | undefined | null = options.cursor
  do {
    const want = Math.min(pageLimit, limit - runs.length)
    const page = await client.runs.list(filter, { limit: want, cursor, signal })
    runs.push(...page.runs)
    if (json) for (const run of page.runs) printJson(run)
    cursor = page.next_cursor
  } while (cursor !== null && runs.length < limit)
  if (!json) {
    if (runs.length === 0) say('No runs found.')
    else print(formatTable(['RUN', 'AGENT', 'STATUS', 'TOOK', 'TOKENS', 'COST', 'CREATED', 'SESSION'], runs.map(toRow)))
    for (const run of runs) sayWaiting(run)
  }
  if (cursor !== null) say(`There are more runs. To see them, add --cursor ${terminalLine(cursor)}`)
  return undefined
}

function sayWaiting(run: Run): void {
  const lines = waitingLines(run)
  if (lines.length > 0) say([`${run.run_id} waits:`, ...lines, resumeHint(run)].join('\n  '))
}

function toRow(run: Run): string[] {
  return [
    run.run_id,
    run.entity_id,
    [run.status, ...replacedBy(run)].join(', '),
    run.completed_at === null ? '-' : formatDuration(between(run.started_at ?? run.created_at, run.completed_at)),
    run.usage === null ? '-' : `${run.usage.input_tokens} + ${run.usage.output_tokens}`,
    run.usage === null && !run.cost ? '-' : formatCost(run.cost),
    tableTime(run.created_at),
    run.session_id,
  ]
}
