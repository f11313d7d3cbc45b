import { UsageError } from '../../command/exit.ts'
import { printJson, say, write } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalLine } from '../../terminal/text.ts'
import { tableTime } from '../../terminal/when.ts'
import type { SessionsAction } from './action.ts'
import { filterOf, limitOf, readPages } from './pages.ts'

export const searchSessions: SessionsAction = async ({ withClient, args, options, json, signal }) => {
  const words = args.join(' ')
  if (words.trim() === '') throw new UsageError('Say what to search for, for example: sessions search refund')
  const filter = filterOf(options)
  const limit = limitOf(options)
  return withClient(async ({ sessions }) => {
    const read = (page: object) => sessions.search(words, filter, { ...page, signal })
    const pages = readPages(read, ({ messages }) => messages, limit)
    const rows: string[][] = []
    let page = await pages.next()
    for (; !page.done; page = await pages.next()) {
      for (const hit of page.value) {
        if (json) printJson(hit)
        else rows.push([hit.session_id, hit.role, hit.entity_id, tableTime(hit.created_at), terminalLine(hit.snippet)])
      }
    }
    if (json) return undefined
    if (rows.length === 0) say('Nothing found.')
    else await write(formatTable(['SESSION', 'ROLE', 'AGENT', 'SAID AT', 'TEXT'], rows))
    if (page.value !== null) say('There may be more. Use --limit to see more, or --all to see all.')
    return undefined
  })
}
