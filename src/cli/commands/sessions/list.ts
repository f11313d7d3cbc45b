import { say, write } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalJson } from '../../terminal/text.ts'
import type { SessionsAction } from './action.ts'
import { filterOf, headColumns, limitOf, readPages, toHeadRow, updatedBefore } from './pages.ts'

export const listSessions: SessionsAction = ({ withClient, options, json, signal }) => {
  const filter = { ...filterOf(options), status: options.status, updated_before: updatedBefore(options) }
  return withClient(async ({ sessions }) => {
    const read = (page: object) => sessions.list({ ...filter, view: 'head' }, { ...page, signal })
    const pages = readPages(read, (page) => page.sessions, limitOf(options))
    const rows: string[][] = []
    let page = await pages.next()
    for (; !page.done; page = await pages.next()) {
      if (json) await write(page.value.map((session) => `${terminalJson(session)}\n`).join(''))
      else rows.push(...page.value.map(toHeadRow))
    }
    if (json) return undefined
    if (rows.length === 0) say(Object.values(filter).some(Boolean) ? 'No sessions found.' : 'No sessions yet.')
    else await write(formatTable(headColumns, rows))
    if (page.value !== null) say('There are more sessions. Use --limit to see more, or --all to see all.')
    return undefined
  })
}
