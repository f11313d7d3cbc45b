import { counted } from '../../../rules/usage-rows.ts'
import { mayWrite } from '../schema/instances.ts'
import { maxWaiting } from './limits.ts'

/** What a group of writes has; its statement leaves out the rest. */
export const has = { starts: 1, claims: 2, appends: 4, ends: 8, usage: 16, parts: 32, turns: 64 } as const

/** The documents of a group, in the order of the parameters after the key of the owner. */
const documents = ['starts', 'sessions', 'appends', 'ends', 'usage', 'parts'] as const
export type Document = (typeof documents)[number]

/** The documents that a group with these parts has. */
export function documentsOf(mask: number): Document[] {
  return documents.filter((name) => (mask & (name === 'sessions' ? has.starts : has[name])) !== 0)
}

/*
 * One statement writes a group. Its rows come as JSON documents, and a row that a rule forbids is left out: the answer tells
 * which rows were written. Nothing but a value that can't be stored, or what `strict` and `seeded` guard against, undoes
 * the group.
 *
 * These rules keep the plans fast on tables that are empty, large, and not analysed; each was found by measuring:
 *  - no EXISTS under OR or CASE: it becomes a set of all rows of a partial index; a sub-select with LIMIT 1 is a probe;
 *  - `> ''` and `< '~'`, which hold for all ids, make the planner expect one row, so it probes for each;
 *  - the conditions on `status` in the updates are a CASE, so that no partial index fits them;
 *  - CTEs and documents are joined by FULL JOIN, which can't become a nested loop: each row would look at all others.
 * Runs and sessions come sorted by session, so that processes lock them in one order.
 */

const rowsOf = (param: string, columns: string) =>
  `(SELECT * FROM json_to_recordset(${param}::text::json) AS x(${columns}) WHERE i > '' AND i < '~')`

const startColumns = `n int, i text, s text, e text, k text, st text, tk bool, qn int, u text, p text, ty bool, bg bool,
  uc bool, tr bool, sa text, l int, es int, ss text, sb text, hb bool, b text, en text, inp text, o text, lb text, g text,
  ck text, ch text, cx text, sd bool, su text, ns bool`
const sessionColumns = 'i text, at text, a text, t text, w text, u text, nm text, m text, st text, c text'
const appendColumns = 'i text, f int, q int, l int, v int, t text, ck bool'
const endColumns = `n int, i text, f int, st text, en text, es int, o text, q int, l int, t text, at text, ss text, hs bool,
  ck bool`

const sessionOf = (column: string) => `(SELECT ${column} FROM session WHERE session_id = xs.s LIMIT 1)`
const turnOf = (status: string) =>
  `(SELECT 1 FROM run WHERE session_id = xs.s AND status = '${status}' AND parent_run_id IS NULL LIMIT 1)`
const waiting = `(SELECT count(*) FROM (SELECT 1 FROM run WHERE session_id = xs.s AND status = 'queued'
  AND parent_run_id IS NULL LIMIT ${maxWaiting}) AS w)`

/** A run without a user gets that of a session that exists. */
const userOf = `CASE WHEN u IS NOT NULL THEN u WHEN su IS NULL THEN ${sessionOf('user_id')}
  WHEN ${sessionOf('true')} THEN ${sessionOf('user_id')} ELSE su END`

const startCtes = (key: string, starts: string, claims: boolean) => [
  `xs AS MATERIALIZED ${rowsOf(starts, startColumns)}`,
  `ok AS MATERIALIZED (SELECT xs.*, ${userOf} AS becomes_user, CASE
      WHEN tk IS NOT TRUE THEN CASE WHEN qn IS NULL OR en IS NOT NULL THEN st
        WHEN ${waiting} + qn < ${maxWaiting} THEN st END
      WHEN coalesce(qn, 0) = 0 AND ${turnOf('running')} IS NULL AND ${turnOf('queued')} IS NULL THEN st
      WHEN qn IS NULL OR en IS NOT NULL THEN NULL
      WHEN ${waiting} + qn < ${maxWaiting} THEN 'queued' END AS becomes
    FROM xs WHERE (SELECT true FROM instance WHERE instance_key = ${key}::int AND ${mayWrite})
      AND (sd OR ${sessionOf('true')}) AND (ns IS NOT TRUE OR ${sessionOf('true')} IS NULL))`,
  ...(claims
    ? [
        `c AS (INSERT INTO claim (claim_key, hash, expires_at, run_id, owner)
    SELECT ck, ch, cx, i, ${key}::int FROM ok WHERE ck IS NOT NULL AND becomes IS NOT NULL ORDER BY ck, n
    ON CONFLICT (claim_key) DO NOTHING RETURNING run_id)`,
      ]
    : []),
  `r AS (INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, user_id, parent_run_id, is_try, background,
      unchecked, truncated, owner, fence, reserve_until, recorded_seq, end_seq, started_at, start_state, state_before, begun,
      ended, input, output, last_batch, given)
    SELECT i, s, e, k, becomes, becomes_user, p, ty IS TRUE, bg IS TRUE, uc IS TRUE, tr IS TRUE, ${key}::int, 1, 1000, l, es,
      CASE WHEN becomes <> 'queued' THEN sa END, ss,
      CASE WHEN hb THEN coalesce((SELECT state FROM session WHERE session_id = ok.s LIMIT 1), 'null') ELSE sb END,
      b, en, inp, o, lb, g
    FROM ok WHERE becomes IS NOT NULL${claims ? ' AND (ck IS NULL OR i IN (SELECT run_id FROM c))' : ''} ORDER BY s, n
    ON CONFLICT DO NOTHING
    RETURNING run_id, run_number, session_id, status, parent_run_id, is_try, ended IS NOT NULL AS is_ended)`,
]

const notEnded = `CASE WHEN run.status IN ('running', 'queued') THEN true END`

const appendCtes = (appends: string) => [
  `xa AS MATERIALIZED ${rowsOf(appends, appendColumns)}`,
  `a AS (UPDATE run SET recorded_seq = coalesce(l, recorded_seq), reserve_until = greatest(reserve_until, v),
      unchecked = unchecked AND ck IS NOT TRUE
    FROM xa WHERE run_id = i AND fence = f AND ${notEnded} AND (q IS NULL OR recorded_seq < q)
    RETURNING run_id, run_number, q, t)`,
  'ev AS (INSERT INTO event (run_number, first_seq, batch) SELECT run_number, q, t FROM a WHERE q IS NOT NULL)',
]

const endCtes = (ends: string) => [
  `xe AS MATERIALIZED ${rowsOf(ends, endColumns)}`,
  `e AS (UPDATE run SET status = st, ended = en, end_seq = es, output = o, recorded_seq = coalesce(l, recorded_seq),
      last_batch = t, cancel_reason = NULL, unchecked = unchecked AND ck IS NOT TRUE,
      state_before = CASE WHEN hs AND state_before IS NULL AND NOT is_try
        THEN coalesce((SELECT state FROM session WHERE session_id = run.session_id LIMIT 1), 'null') ELSE state_before END,
      replaced_state = CASE WHEN hs AND is_try THEN coalesce(ss, 'null') ELSE replaced_state END
    FROM xe WHERE run_id = i AND fence = f AND ${notEnded} AND ended IS NULL AND (q IS NULL OR recorded_seq < q)
    RETURNING run_id, run_number, session_id, parent_run_id, is_try, at,
      CASE WHEN hs THEN concat(lpad(n::text, 3, '0'), coalesce(ss, 'null')) END AS state)`,
]

/** A condition from which the planner does not see that an inner join would do. */
const isSet = (column: string) => `CASE WHEN ${column} IS NULL THEN false ELSE true END`
const matched = `${isSet('d.run_id')} AND ${isSet('x.i')}`

/** The rows of the CTEs that a group has, with the columns of the first. */
const union = (...selects: (string | false)[]) => selects.filter((select) => select !== false).join(' UNION ALL ')

/**
 * `seeded`: a session is only created by a start that may, even when it is deleted at this moment; else its `created_at` is
 * empty, and the division fails. `strict`: a state that begins with a space is only for a session that does not exist yet;
 * else `created_at` becomes null, and that fails.
 */
const sessionCtes = (sessions: string | undefined, starts: boolean, ends: boolean) => {
  const touched = union(
    starts &&
      `SELECT session_id, 1 AS is_start, NULL AS at, CASE WHEN is_ended THEN 2 ELSE 1 END AS v,
        (parent_run_id IS NULL)::int AS runs, NULL AS state FROM r WHERE NOT is_try`,
    ends && 'SELECT session_id, 0 AS is_start, at, 1 AS v, 0 AS runs, state FROM e WHERE NOT is_try',
  )
  const values = starts
    ? `a, t, w, u, nm, m, coalesce(substr(t.state, 4), CASE WHEN t.starts > 0 THEN x.st END), coalesce(c, ''),
      greatest(t.at, CASE WHEN t.starts > 0 THEN x.at END)`
    : `NULL, NULL, NULL, NULL, NULL, NULL, substr(t.state, 4), '', t.at`
  return [
    `t AS MATERIALIZED (SELECT session_id, sum(is_start) AS starts, max(at COLLATE "C") AS at, sum(v)::int AS v,
      sum(runs)::int AS runs, max(state COLLATE "C") AS state FROM (${touched}) AS touched GROUP BY session_id)`,
    `s AS (INSERT INTO session (session_id, agent_id, team_id, workflow_id, user_id, name, metadata, state, created_at,
      updated_at, revision, run_count)
    SELECT t.session_id, ${values}, t.v + 1, t.runs
    FROM t${starts ? ` FULL JOIN json_to_recordset(${sessions}::text::json) AS x(${sessionColumns}) ON x.i = t.session_id WHERE ${isSet('t.session_id')}` : ''}
    ORDER BY 1
    ON CONFLICT (session_id) DO UPDATE SET updated_at = greatest(session.updated_at, excluded.updated_at),
      revision = session.revision + excluded.revision - 1, run_count = session.run_count + excluded.run_count,
      state = CASE WHEN excluded.state IS NULL THEN session.state ELSE nullif(excluded.state, 'null') END,
      created_at = CASE WHEN starts_with(excluded.state, ' ') THEN NULL ELSE session.created_at END
    RETURNING session_id, revision, birth, updated_at, xmax = 0 AS is_new, 1 / length(created_at) AS seeded)`,
    // A join would read all rows while there are few. Hardly any session has such rows.
    `so AS (UPDATE session_owner SET updated_at = (SELECT s.updated_at FROM s WHERE s.session_id = session_owner.session_id)
    WHERE session_id = ANY(ARRAY(SELECT session_id FROM s)))`,
  ]
}

/** Whether the session of a start was made or deleted at this moment: see `strict` and `seeded`. */
export function isOfSession(error: unknown): boolean {
  const { code, table, column } = error as { code?: string; table?: string; column?: string }
  return code === '22012' || (code === '23502' && table === 'session' && column === 'created_at')
}

const sums = counted.map((name) => `sum(${name})`).join(', ')
export const addCounts = counted.map((name) => `${name} = session_usage.${name} + excluded.${name}`).join(', ')
export const addLargest =
  'largest_input_tokens = greatest(session_usage.largest_input_tokens, excluded.largest_input_tokens)'
export const usageColumns = `model, ${counted.join(', ')}, largest_input_tokens`
export const usageTypes = `m text, ${counted.map((name) => `${name} bigint`).join(', ')}, largest_input_tokens bigint`

const usageCte = (usage: string, starts: boolean, ends: boolean) => {
  const turns = (cte: string) => `SELECT run_id, session_id FROM ${cte} WHERE parent_run_id IS NULL`
  return `su AS (INSERT INTO session_usage (session_id, ${usageColumns})
    SELECT session_id, m, ${sums}, max(largest_input_tokens)
    FROM (${union(starts && turns('r'), ends && turns('e'))}) AS d
      FULL JOIN json_to_recordset(${usage}::text::json) AS x(i text, ${usageTypes}) ON x.i = d.run_id
    WHERE ${matched} GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (session_id, model) DO UPDATE SET ${addCounts}, ${addLargest})`
}

const partsCte = (parts: string, ...ctes: (string | false)[]) =>
  `ep AS (INSERT INTO event (run_number, first_seq, batch) SELECT run_number, q, t
    FROM (${union(...ctes.map((cte) => cte && `SELECT run_id, run_number FROM ${cte}`))}) AS d
      FULL JOIN json_to_recordset(${parts}::text::json) AS x(i text, q int, t text) ON x.i = d.run_id WHERE ${matched})`

const listOf = (items: string, from: string) => `(SELECT json_agg(${items}) FROM ${from})::text`

/** For the turns that ended, the next waiting run of the session and its owner. The statement does not see what it writes. */
const turnsOf = (starts: boolean, ends: boolean) => {
  const ended = union(
    starts && 'SELECT session_id, run_number FROM r WHERE is_ended AND parent_run_id IS NULL',
    ends && 'SELECT session_id, run_number FROM e WHERE parent_run_id IS NULL',
  )
  return `(SELECT json_agg(json_build_array(w.run_id, w.owner)) FROM (${ended}) AS d CROSS JOIN LATERAL
    (SELECT run_id, owner FROM run WHERE session_id = d.session_id AND status = 'queued' AND parent_run_id IS NULL
       AND run_number <> d.run_number
     ORDER BY run_number LIMIT 1) AS w)::text`
}

function build(mask: number): string {
  const place = new Map(documentsOf(mask).map((name, at) => [name, `$${at + 2}`]))
  const paramOf = (name: Document) => place.get(name) ?? ''
  const [starts, appends, ends] = [has.starts, has.appends, has.ends].map((bit) => (mask & bit) !== 0) as [
    boolean,
    boolean,
    boolean,
  ]
  const ctes = [
    // A statement without starts has no use for the key, but each parameter must have a type.
    ...(starts ? [] : ['unused AS (SELECT $1::int)']),
    ...(starts ? startCtes('$1', paramOf('starts'), (mask & has.claims) !== 0) : []),
    ...(appends ? appendCtes(paramOf('appends')) : []),
    ...(ends ? endCtes(paramOf('ends')) : []),
    ...(starts || ends ? sessionCtes(place.get('sessions'), starts, ends) : []),
    ...(mask & has.usage ? [usageCte(paramOf('usage'), starts, ends)] : []),
    ...(mask & has.parts ? [partsCte(paramOf('parts'), starts && 'r', appends && 'a', ends && 'e')] : []),
  ]
  const answers = [
    starts && `${listOf('json_build_array(run_id, status)', 'r')} AS r`,
    starts && `${listOf('json_build_array(session_id, revision, is_new, birth)', 's')} AS s`,
    appends && `${listOf('run_id', 'a')} AS a`,
    ends && `${listOf('run_id', 'e')} AS e`,
    mask & has.turns && `${turnsOf(starts, ends)} AS w`,
  ].filter(Boolean)
  return `WITH ${ctes.join(',\n')}\nSELECT ${answers.join(',\n')}`
}

const texts: string[] = []

export function hotStatement(mask: number): string {
  texts[mask] ??= build(mask)
  return texts[mask]
}
