import { isTry, type RunRecord } from '../../../core/run.ts'
import { stringifyLarge } from '../../../runtime/json.ts'
import { begunOf, endedOf, messageRows, noTurn } from '../rows/rows.ts'

/** The columns of a copied run and their types. */
const columns = {
  run_id: 'text',
  session_id: 'text',
  entity_id: 'text',
  entity_kind: 'text',
  status: 'text',
  user_id: 'text',
  parent_run_id: 'text',
  is_try: 'boolean',
  background: 'boolean',
  truncated: 'boolean',
  end_seq: 'int',
  started_at: 'text',
  begun: 'text',
  ended: 'text',
  input: 'text',
  output: 'text',
  given: 'text',
  replaced_by: 'text',
  follows: 'text',
} as const

type Column = keyof typeof columns
export type CopiedRun = Record<Column, string | number | boolean | null>

const names = Object.keys(columns) as Column[]
const arrays = names.map((name, place) => `$${place + 1}::${columns[name]}[]`)

/** Its events come later; none of them has a higher number than its end. Nobody owns it. */
export const insertRuns = `INSERT INTO run (${names.join(', ')}, owner, fence, reserve_until, recorded_seq)
  SELECT ${names.join(', ')}, 0, 1, greatest(1, end_seq), greatest(1, end_seq)
  FROM unnest(${arrays.join(', ')}) WITH ORDINALITY AS copied(${names.join(', ')}, place) ORDER BY place
  ON CONFLICT DO NOTHING RETURNING run_id, run_number`

/** The parameters of `insertRuns`. */
export function valuesOf(runs: readonly CopiedRun[]): unknown[] {
  return names.map((name) => runs.map((run) => run[name]))
}

export async function copiedRun(run: RunRecord): Promise<CopiedRun> {
  const output = run.messages.filter(({ role }) => role === 'assistant')
  const ended = { ...run, completed_at: run.completed_at ?? run.created_at, end_seq: run.end_seq ?? 0 }
  return {
    run_id: run.run_id,
    session_id: run.session_id,
    entity_id: run.entity_id,
    entity_kind: run.entity_kind,
    status: run.status,
    user_id: run.user_id,
    parent_run_id: run.parent_run_id ?? (isTry(run) ? noTurn : null),
    is_try: isTry(run),
    background: run.background,
    truncated: run.truncated,
    end_seq: ended.end_seq,
    started_at: run.started_at,
    begun: begunOf(run, null),
    ended: endedOf(ended),
    input: await stringifyLarge(messageRows(run.messages.filter(({ role }) => role === 'user'))),
    output: output.length === 0 ? null : await stringifyLarge(messageRows(output)),
    given: run.given === null ? null : await stringifyLarge(run.given),
    replaced_by: run.replaced_by,
    follows: run.follows ?? null,
  }
}
