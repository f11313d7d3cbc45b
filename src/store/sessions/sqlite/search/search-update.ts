import { isEnded, isResumable, type RunStatus } from '../../../../core/run.ts'
import type { Pace } from '../../../../runtime/yield.ts'
import { searchedWords } from '../../../rules/message-search.ts'
import type { Connection, SqlRow } from '../../../sqlite/connection.ts'
import { takeStep } from '../../rows/budget.ts'
import type { MessageRow } from '../../rows/rows.ts'
import type { IndexedRun, SearchFile } from './search-file.ts'

const runsAtOnce = 500
const marksAtOnce = 100
const numbersAtOnce = 5_000

export interface UpdateOptions {
  file: SearchFile
  source: Connection
  pace: Pace
  /** Stops the update between two steps. */
  isStopped: () => boolean
  /** Which part of the runs has been read, before each step. */
  onProgress: (share: number) => void
}

/**
 * Run numbers only grow, but the highest are reused after a deletion. The marks show how far the index is valid:
 * everything above the highest mark that still names its run is indexed again.
 */

/** Brings the index up to date in steps, each of which is committed. */
export async function updateIndex(options: UpdateOptions): Promise<void> {
  const { isStopped, onProgress, source } = options
  let last = await commonMark(options)
  await updateOpenRuns(options)
  const [newest] = await source.all('SELECT max(run_number) AS number FROM runs')
  while (!isStopped()) {
    onProgress(Math.min(1, last / Math.max(1, (newest?.number ?? 0) as number)))
    const next = await indexAfter(options, last)
    if (next === undefined) return
    last = next
  }
}

/** Removes runs that no longer exist, which a killed process may have left. */
export async function removeOrphans({ file, source, isStopped }: UpdateOptions): Promise<void> {
  for (let after = 0; !isStopped(); ) {
    const known = await file.numbers(after, numbersAtOnce)
    const last = known.at(-1)
    if (last === undefined) return
    await dropAbsent(file, source, known)
    after = last
  }
}

/** Drops those of these numbers that no longer belong to a run. */
export async function dropAbsent(file: SearchFile, source: Connection, numbers: readonly number[]): Promise<void> {
  const sql = 'SELECT run_number FROM json_each(?) CROSS JOIN runs ON run_number = value'
  const rows = await source.all(sql, [JSON.stringify(numbers)])
  const present = new Set(rows.map((row) => row.run_number))
  await file.drop(numbers.filter((number) => !present.has(number)))
}

/** The highest run number up to which the index is valid; drops everything above it. */
async function commonMark({ file, source }: UpdateOptions): Promise<number> {
  const [newest] = await file.marks(Number.MAX_SAFE_INTEGER, 1)
  let below = Number.MAX_SAFE_INTEGER
  for (;;) {
    const marks = await file.marks(below, marksAtOnce)
    const [common] = await source.all(
      `SELECT run_number FROM json_each(?) CROSS JOIN runs ON run_number = value ->> 0 AND run_id = value ->> 1
       ORDER BY run_number DESC LIMIT 1`,
      [JSON.stringify(marks.map(({ number, runId }) => [number, runId]))],
    )
    const last = marks.at(-1)
    if (common === undefined && last !== undefined) below = last.number
    else {
      const number = (common?.run_number ?? 0) as number
      if (newest !== undefined && newest.number !== number) await file.dropAbove(number)
      return number
    }
  }
}

/** Indexes again the runs that were active or queued when they were indexed. */
async function updateOpenRuns({ file, source, pace }: UpdateOptions): Promise<void> {
  const known = [...(await file.openRuns())]
  for (let at = 0; at < known.length; at += runsAtOnce) {
    const looks = new Map(known.slice(at, at + runsAtOnce))
    await dropAbsent(file, source, [...looks.keys()])
    const rows = await lookAt(source, [...looks.keys()])
    const changed = rows.filter((row) => row.look !== looks.get(row.run_number as number))
    while (changed.length > 0) await file.put(await toIndexed(source, takeStep(changed), pace))
  }
}

async function indexAfter({ file, source, pace }: UpdateOptions, after: number): Promise<number | undefined> {
  const rows = await source.all(`SELECT ${lookColumns} FROM runs WHERE run_number > ? ORDER BY run_number LIMIT ?`, [
    after,
    runsAtOnce,
  ])
  const step = takeStep(rows)
  const last = step.at(-1)
  if (last === undefined) return undefined
  const mark = { number: last.run_number as number, runId: last.run_id as string }
  await file.put(await toIndexed(source, step, pace), mark)
  return mark.number
}

export async function renewRuns({ file, source, pace }: UpdateOptions, numbers: readonly number[]): Promise<void> {
  const rows = await lookAt(source, numbers)
  while (rows.length > 0) await file.put(await toIndexed(source, takeStep(rows), pace))
}

const lookColumns = `run_number, run_id, status, begun ->> 'entity_kind' AS entity_kind,
  concat_ws(' ', run_id, status, fence, iif(status IN ('running', 'queued'), input ->> '$[0][4]', NULL)) AS look,
  octet_length(input) + ifnull(octet_length(output), 0) AS bytes`

function lookAt(source: Connection, numbers: readonly number[]): Promise<SqlRow[]> {
  const sql = `SELECT ${lookColumns} FROM json_each(?) CROSS JOIN runs ON run_number = value`
  return source.all(sql, [JSON.stringify(numbers)])
}

async function toIndexed(source: Connection, looks: readonly SqlRow[], pace: Pace): Promise<IndexedRun[]> {
  const numbers = JSON.stringify(looks.map((row) => row.run_number))
  const rows = await source.all(
    `SELECT run_number, run_session_id, concat('[', input, ',', ifnull(output, '[]'), ']') AS said
     FROM json_each(?) CROSS JOIN runs ON run_number = value WHERE parent_run_id IS NULL`,
    [numbers],
  )
  const bodies = new Map<number, string>()
  for (const row of rows) {
    const said = (JSON.parse(row.said as string) as MessageRow[][]).flat()
    const words = await searchedWords(row.run_session_id as string, said, pace)
    bodies.set(row.run_number as number, [...words].join(' '))
  }
  return looks.map((row) => {
    const run = { status: row.status as RunStatus, entity_kind: row.entity_kind as 'agent' }
    const isSettled = isEnded(run.status) && !isResumable(run)
    const number = row.run_number as number
    return { number, look: isSettled ? null : (row.look as string), body: bodies.get(number) }
  })
}
