import type { Page, PageRequest } from '../../../../core/page.ts'
import { type Run, runStatuses } from '../../../../core/run.ts'
import type { RunFilter } from '../../../../core/store.ts'
import { cutPage, decodeRunNumber } from '../../../rules/cursor.ts'
import { noTurn } from '../../rows/rows.ts'
import { mayFit, Values } from './listed.ts'
import { type Reader, wholeHeads } from './records.ts'
import { type HeadColumns, headColumns, toListed } from './rows.ts'

/** Newest first by the order of starting, which does not depend on a clock. */
export async function listRuns(sql: Reader, filter: RunFilter, page: PageRequest): Promise<Page<Run>> {
  const { status } = filter
  const after = decodeRunNumber(page.cursor)
  if (!mayFit(filter) || (status !== undefined && !runStatuses.includes(status))) return { items: [], next: null }
  if (filter.parent_run_id === noTurn) return { items: [], next: null }
  const conditions: string[] = []
  const values = new Values()
  const add = (condition: string, value: string | number | undefined, end = '') => {
    if (value !== undefined) conditions.push(`${condition} ${values.add(value)}${end}`)
  }
  add('session_id =', filter.session_id)
  add('user_id =', filter.user_id)
  add('entity_id =', filter.agent_id)
  add('parent_run_id =', filter.parent_run_id)
  if (filter.again !== true && filter.parent_run_id === undefined) conditions.push('NOT is_try')
  // Not a parameter: it selects the index of the state.
  if (status !== undefined) conditions.push(`status = '${status}'`)
  add('run_number < (SELECT run_number FROM run AS other WHERE other.run_id =', filter.before, ')')
  add('run_number <', after)
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  const rows = await sql.all<HeadColumns>(
    `SELECT ${headColumns} FROM run ${where} ORDER BY run_number DESC LIMIT ${values.add(page.limit + 1)}`,
    values.all,
    'fresh',
  )
  const { items, next } = cutPage([...(await wholeHeads(sql, rows))], page.limit, (row) => ({
    time: toListed(row).created_at,
    id: String(row.run_number),
  }))
  return { items: items.map(toListed), next }
}
