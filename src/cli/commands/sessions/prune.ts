import type { SessionFilter, SessionsClient } from '../../../client/sessions.ts'
import { UsageError } from '../../command/exit.ts'
import { exit } from '../../command/exit-codes.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { printJson, say, write } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalJson } from '../../terminal/text.ts'
import type { SessionsAction } from './action.ts'
import { filterOf, readPages, tableHead, toRow, updatedBefore } from './pages.ts'

export const pruneSessions: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  const before = updatedBefore(options)
  if (before === undefined) throw new UsageError('Say how old: sessions prune --older-than 30d')
  if (args.length > 0)
    throw new UsageError('sessions prune takes no ids. To delete sessions by id, use sessions delete.')
  const filter = filterOf(options)
  const asks = options.yes !== true && options.dryRun !== true
  if (asks && !canAsk())
    throw new UsageError(
      "Can't ask for confirmation without a terminal. Use --yes to delete, or --dry-run to see what would be deleted.",
    )
  return withClient(async ({ sessions }) => {
    if (options.dryRun === true) return showDue(sessions, before, filter, json, signal)
    if (asks) {
      let count = 0
      for await (const due of dueSessions(sessions, before, filter, signal)) count += due.length
      if (count === 0) {
        say('No sessions to prune.')
        return undefined
      }
      const what = count === 1 ? 'one session that has' : `${count} sessions that have`
      if (!(await confirm(`Delete ${what} not changed since ${before}?`, signal))) {
        say('Nothing was deleted.')
        return exit.failure
      }
    }
    let deleted = 0
    for (let more = true; more; ) {
      const pruned = await sessions.prune({ updated_before: before, ...filter }, { signal })
      deleted += pruned.deleted
      more = pruned.has_more
    }
    if (json) printJson({ deleted })
    else say(deleted === 1 ? 'Deleted 1 session.' : `Deleted ${deleted} sessions.`)
    return undefined
  })
}

/** Page by page; the server skips sessions with active or queued runs. */
async function* dueSessions(sessions: SessionsClient, before: string, filter: SessionFilter, signal: AbortSignal) {
  const read = (page: object) => sessions.list({ ...filter, updated_before: before }, { ...page, signal })
  for await (const page of readPages(read, (listed) => listed.sessions, undefined)) {
    yield page.filter(({ runs }) => runs.every(({ status }) => status !== 'running' && status !== 'queued'))
  }
}

async function showDue(
  sessions: SessionsClient,
  before: string,
  filter: SessionFilter,
  json: boolean,
  signal: AbortSignal,
): Promise<undefined> {
  const rows: string[][] = []
  for await (const due of dueSessions(sessions, before, filter, signal)) {
    if (json) await write(due.map((session) => `${terminalJson(session)}\n`).join(''))
    else rows.push(...due.map(toRow))
  }
  if (json) return
  if (rows.length === 0) say('No sessions to prune.')
  else {
    await write(formatTable(tableHead, rows))
    say(rows.length === 1 ? 'It would be deleted.' : `These ${rows.length} would be deleted.`)
  }
}
