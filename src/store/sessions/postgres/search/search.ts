import { AppError } from '../../../../core/error.ts'
import { isSessionId } from '../../../../core/id.ts'
import type { SessionStore } from '../../../../core/store.ts'
import type { MessageSearch } from '../../../../core/text/message-search.ts'
import { within } from '../../../../runtime/abort.ts'
import { createSerial } from '../../../../runtime/serial.ts'
import { type SearchedRun, type SearchIndex, searchPage, toPosition } from '../../../rules/message-search.ts'
import { takeStep } from '../../rows/budget.ts'
import { type MessageRow, ownersOf } from '../../rows/rows.ts'
import type { Database } from '../database.ts'
import { toQuery } from './lexemes.ts'
import { WordIndex } from './word-index.ts'

/** How long a search waits for the words of runs; taking them goes on afterwards. */
const updateMs = 10_000
/** So many runs are looked through before the index is asked, which would read all matches of a common word. */
const newestRuns = 1_000

/** A search brings the words of runs up to date first, so that writes cost nothing more. */
export function searching(database: Database): Pick<SessionStore, 'searchMessages'> {
  const words = new WordIndex(database)
  const queue = createSerial()
  let waiting: Promise<void> | undefined

  /** One that has begun may have passed what a later search must find. */
  function update(): Promise<void> {
    waiting ??= queue.run(() => {
      waiting = undefined
      return words.update()
    })
    return waiting
  }

  return {
    async searchMessages(search, page) {
      const from = toPosition(page.cursor)
      // No session has such an id.
      if (search.session_id !== undefined && !isSessionId(search.session_id)) return { items: [], next: null }
      const updating = update()
      await within(() => updating, { ms: updateMs, late })
      return searchPage(indexFor(database, search), search, page.limit, from)
    },
  }
}

function late(): AppError {
  return new AppError('unavailable', 'The search index is being built. Retry in a moment.', { retryAfterSeconds: 2 })
}

/** Parameters: query, highest number, how many matches, how many runs. */
export const findNewest = `WITH newest AS MATERIALIZED
    (SELECT run_number, words FROM run_words WHERE run_number <= $2 ORDER BY run_number DESC LIMIT $4)
  SELECT (SELECT count(*) FROM newest) AS looked, array_to_json(ARRAY(SELECT run_number FROM newest
    WHERE words @@ $1::tsquery ORDER BY run_number DESC LIMIT $3)) AS found`

/** Parameters: query, highest number, how many. Not by the order of the numbers, however tempting the limit is. */
export const findByWords = `WITH found AS MATERIALIZED (SELECT run_number FROM run_words WHERE words @@ $1::tsquery)
  SELECT run_number AS number FROM found WHERE run_number <= $2 ORDER BY run_number DESC LIMIT $3`

function indexFor({ read }: Database, search: MessageSearch): SearchIndex {
  const query = toQuery(search)
  return {
    async find(from, limit) {
      // A session has few matches.
      if (search.session_id === undefined) {
        const params = [query, from, limit, newestRuns]
        const [row] = await read.all<{ looked: number; found: number[] }>(findNewest, params)
        if (row !== undefined && (row.found.length === limit || row.looked < newestRuns)) return row.found
      }
      const rows = await read.all<{ number: number }>(findByWords, [query, from, limit])
      return rows.map(({ number }) => number)
    },
    read: (numbers) => readRuns(read, numbers, search),
  }
}

interface FoundRow {
  number: number
  run_id: string
  session_id: string
  entity_id: string
  unchecked: boolean
  input: string
  output: string | null
}

async function* readRuns(
  read: Database['read'],
  numbers: readonly number[],
  search: MessageSearch,
): AsyncGenerator<SearchedRun> {
  const { sql, params } = readable(numbers, search)
  const found = await read.all<{ number: number; bytes: number; is_replaced: boolean }>(sql, params)
  const replaced = new Set(found.filter((row) => row.is_replaced).map(({ number }) => number))
  while (found.length > 0) {
    const rows = await read.all<FoundRow>(
      `SELECT run_number AS number, run_id, session_id, entity_id, unchecked, input, output FROM run
       WHERE run_number = ANY($1::bigint[]) ORDER BY run_number DESC`,
      [takeStep(found).map(({ number }) => number)],
    )
    for (const { number, run_id, session_id, entity_id, unchecked, input, output } of rows) {
      const said: MessageRow[] = JSON.parse(input)
      if (unchecked) for (const message of said) message[4] = 'unchecked'
      if (output !== null) said.push(...(JSON.parse(output) as MessageRow[]))
      yield { number, run_id, session_id, entity_id, isReplaced: replaced.has(number), said }
    }
  }
}

/** Those of the runs that are in the requested sessions and that the reader may see. */
function readable(numbers: readonly number[], search: MessageSearch): { sql: string; params: unknown[] } {
  const params: unknown[] = [numbers]
  const param = (value: unknown) => `$${params.push(value)}`
  const conditions: string[] = []
  for (const [kind, owner] of ownersOf(search)) {
    const id = param(owner)
    conditions.push(`(session.${kind}_id = ${id} OR (SELECT true FROM session_owner AS other
      WHERE other.session_id = session.session_id AND other.kind = '${kind}' AND other.owner_id = ${id} LIMIT 1))`)
  }
  if (search.session_id !== undefined) conditions.push(`session.session_id = ${param(search.session_id)}`)
  let isReplaced = 'run.replaced_by IS NOT NULL'
  if (search.reader !== undefined) {
    const reader = param(search.reader)
    const reach = `(SELECT mine.read_until FROM session_owner AS mine
      WHERE mine.session_id = session.session_id AND mine.kind = 'user' AND mine.owner_id = ${reader})`
    conditions.push(`(session.user_id = ${reader} OR run.run_number <= ${reach})`)
    // An earlier user learns it when it was so at the handover.
    isReplaced += ` AND (session.user_id = ${reader}
      OR (SELECT later.run_number FROM run AS later WHERE later.run_id = run.replaced_by) <= ${reach})`
  }
  const sql = `SELECT run.run_number AS number, octet_length(run.input) + coalesce(octet_length(run.output), 0) AS bytes,
      coalesce(${isReplaced}, false) AS is_replaced
    FROM unnest($1::bigint[]) AS wanted(number) JOIN run ON run.run_number = wanted.number
      JOIN session ON session.session_id = run.session_id
    WHERE ${['run.parent_run_id IS NULL AND NOT run.is_try', ...conditions].join(' AND ')}
    ORDER BY run.run_number DESC`
  return { sql, params }
}
