import { isEnded, isResumable, type Run } from '../../../../core/run.ts'
import { pause } from '../../../../runtime/abort.ts'
import { Pace } from '../../../../runtime/yield.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { tryLock } from '../../../postgres/locks.ts'
import { searchedWords } from '../../../rules/message-search.ts'
import { takeStep } from '../../rows/budget.ts'
import type { MessageRow } from '../../rows/rows.ts'
import type { Database } from '../database.ts'
import { toLexemes } from './lexemes.ts'

/* Takes the words of runs in short transactions. One instance at a time does so; which one does not matter. */

const runsAtOnce = 500
const busyMs = 15
const largeBytes = 4 * 1024 * 1024

/** Changes with the content of a run as far as words are taken of it. */
const lookOfRun = `concat_ws(' ', run.status, run.fence, CASE WHEN run.unchecked THEN 'unchecked' END)`
const bytesOfRun = 'octet_length(run.input) + coalesce(octet_length(run.output), 0) AS bytes'

const lacksWords = `CASE WHEN run.parent_run_id IS NULL AND NOT run.is_try
  THEN coalesce((SELECT false FROM run_words WHERE run_words.run_number = run.run_number LIMIT 1), true) END`

interface Candidate {
  number: number
  bytes: number | null
  /** With what look its words were taken; null: they were not. */
  seen: string | null
}

/**
 * Runs without words. Parameters: after which number, and how many. The planner takes the CASE to be true for every other run, so it walks the
 * numbers until it has enough; otherwise each step of a long update would read all runs that follow.
 */
export const selectMissing = `SELECT run.run_number AS number, ${bytesOfRun}, NULL AS seen FROM run
  WHERE run.run_number > $1 AND ${lacksWords} ORDER BY run.run_number LIMIT $2`

/** The same among numbers that were missing; further parameters: the first and the last number of each gap. */
export const selectAppeared = `SELECT run.run_number AS number, ${bytesOfRun}, NULL AS seen
  FROM unnest($3::bigint[], $4::bigint[]) AS gap(first, last)
    CROSS JOIN LATERAL (SELECT * FROM run WHERE run_number BETWEEN gap.first AND gap.last AND run_number > $1
      AND ${lacksWords} ORDER BY run_number LIMIT $2) AS run
  ORDER BY run.run_number LIMIT $2`

/** Runs whose words were taken before they changed, also those that are gone. Parameters as for `selectMissing`. */
export const selectChanged = `SELECT run_words.run_number AS number, ${bytesOfRun}, run_words.look AS seen
  FROM run_words LEFT JOIN LATERAL (SELECT * FROM run WHERE run.run_number = run_words.run_number LIMIT 1) AS run ON true
  WHERE run_words.look IS NOT NULL AND run_words.run_number > $1 AND run_words.look <> ${lookOfRun}
  ORDER BY run_words.run_number LIMIT $2`

const selectSaid = `SELECT run_number AS number, session_id, status, entity_kind, unchecked, input, output,
  ${lookOfRun} AS look FROM run WHERE run_number = ANY($1::bigint[]) AND parent_run_id IS NULL AND NOT is_try`

interface SaidRow extends Pick<Run, 'status' | 'entity_kind'> {
  number: number
  session_id: string
  unchecked: boolean
  input: string
  output: string | null
  look: string
}

/** Takes the words of all runs that `candidates` finds after this number, which must find none of them again. */
export async function takeAll(
  { read, work }: Database,
  candidates: string,
  from = 0,
  ...more: readonly unknown[]
): Promise<void> {
  for (let after = from; ; ) {
    // Most searches find nothing to do and need no transaction.
    const [next] = await read.all<Candidate>(candidates, [after, 1, ...more])
    if (next === undefined) return
    if (isLarge(next)) {
      const taken = await takeWords(await read.all<SaidRow>(selectSaid, [[next.number]]))
      await work((sql) => storeWords(sql, [next], taken))
      after = next.number
      continue
    }
    const last = await work((sql) => takeSome(sql, candidates, [after, runsAtOnce, ...more]))
    if (last === 'busy') await pause(busyMs)
    else after = last
  }
}

/** Its words take longer than a transaction should. */
function isLarge({ bytes }: Candidate): boolean {
  return (bytes ?? 0) > largeBytes
}

/** Gives the last number that was looked at. */
async function takeSome(sql: Sql, candidates: string, params: [after: number, ...unknown[]]): Promise<number | 'busy'> {
  if (!(await tryLock(sql, 'words'))) return 'busy'
  const all = await sql.all<Candidate>(candidates, params)
  const large = all.findIndex(isLarge)
  const found = takeStep(large < 0 ? all : all.slice(0, large))
  const numbers = found.map(({ number }) => number)
  await storeWords(sql, found, await takeWords(await sql.all<SaidRow>(selectSaid, [numbers])))
  return numbers.at(-1) ?? params[0]
}

/** What has changed since it was found and read stays as it is, and is found again. */
async function storeWords(sql: Sql, found: readonly Candidate[], taken: readonly Taken[]): Promise<void> {
  const numbers = found.map(({ number }) => number)
  // Not for long: whoever deletes one of them waits, and then deletes its words too.
  const held = await sql.all<{ number: number }>(
    'SELECT run_number AS number FROM run WHERE run_number = ANY($1::bigint[]) ORDER BY run_number FOR KEY SHARE',
    [numbers],
  )
  const present = new Set(held.map(({ number }) => number))
  const ours = taken.filter(({ number }) => present.has(number))
  const seen = new Map(found.flatMap((one) => (one.seen === null ? [] : [[one.number, one.seen]])))
  await insertWords(
    sql,
    ours.filter(({ number }) => !seen.has(number)),
  )
  await replaceWords(
    sql,
    ours.filter(({ number }) => seen.has(number)),
    seen,
  )
  const withWords = new Set(ours.map(({ number }) => number))
  const without = [...seen].filter(([number]) => !withWords.has(number))
  if (without.length > 0) await sql.run(`DELETE FROM run_words USING ${seenRows('$1', '$2')}`, columnsOf(without))
}

interface Taken {
  number: number
  words: string
  look: string | null
}

async function takeWords(rows: readonly SaidRow[]): Promise<Taken[]> {
  const pace = new Pace()
  const taken: Taken[] = []
  for (const row of rows) {
    const said: MessageRow[] = row.unchecked ? [] : JSON.parse(row.input)
    if (row.output !== null) said.push(...(JSON.parse(row.output) as MessageRow[]))
    const words = toLexemes(await searchedWords(row.session_id, said, pace))
    const isSettled = isEnded(row.status) && !isResumable(row)
    taken.push({ number: row.number, words, look: isSettled ? null : row.look })
  }
  return taken
}

/** Whoever took away messages of a run since it was read has left a row, which stays. */
async function insertWords(sql: Sql, taken: readonly Taken[]): Promise<void> {
  if (taken.length === 0) return
  await sql.run(
    `INSERT INTO run_words (run_number, words, look)
     SELECT number, words::tsvector, look FROM unnest($1::bigint[], $2::text[], $3::text[]) AS taken(number, words, look)
     ON CONFLICT (run_number) DO NOTHING`,
    [taken.map(({ number }) => number), taken.map(({ words }) => words), taken.map(({ look }) => look)],
  )
}

/** Only where nobody else has replaced them. */
async function replaceWords(sql: Sql, taken: readonly Taken[], seen: ReadonlyMap<number, string>): Promise<void> {
  if (taken.length === 0) return
  const known = columnsOf(taken.map(({ number }) => [number, seen.get(number) as string]))
  await sql.run(
    `UPDATE run_words SET words = taken.words::tsvector, look = taken.new_look
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS taken(number, seen, words, new_look)
     WHERE run_number = number AND look = seen`,
    [...known, taken.map(({ words }) => words), taken.map(({ look }) => look)],
  )
}

const seenRows = (numbers: string, looks: string) =>
  `unnest(${numbers}::bigint[], ${looks}::text[]) AS taken(number, seen) WHERE run_number = number AND look = seen`

function columnsOf(rows: readonly (readonly [number, string])[]): [number[], string[]] {
  return [rows.map(([number]) => number), rows.map(([, look]) => look)]
}
