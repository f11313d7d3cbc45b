import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection, Sql } from '../../../../../src/store/postgres/connection.ts'
import type { Pools } from '../../../../../src/store/postgres/pools.ts'
import { Owners } from '../../../../../src/store/sessions/postgres/owners.ts'
import { reading } from '../../../../../src/store/sessions/postgres/reading/reading.ts'
import { at } from '../../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../../support/postgres/describe-postgres.ts'
import { openSchema, type PlanNode } from '../../../../support/postgres/plans.ts'
import type { Place } from '../../../../support/postgres/test-postgres.ts'

type Read = (store: ReturnType<typeof reading>) => Promise<unknown>

/** Whatever the planner knows of the tables. */
const byKey: Record<string, Read> = {
  findSession: (store) => store.findSession('s7'),
  readBasis: (store) => store.readBasis('s7'),
  findHandover: (store) => store.findHandover('s7', 'earlier', 10),
  listHandovers: (store) => store.listHandovers('s7'),
  isBefore: (store) => store.isBefore('r7', 'r20007'),
  findOverview: (store) => store.findOverview('s7'),
  'findOverview by an earlier user': (store) => store.findOverview('s7', 'earlier'),
  readRecords: (store) => store.readRecords('s7', 'r7', 100),
  findRun: (store) => store.findRun('r7'),
  findRunHead: (store) => store.findRunHead('r7'),
  readEvents: (store) => store.readEvents('r7', 900, 10_000),
  'readEvents by type': (store) => store.readEvents('r7', 0, 10, ['source']),
  readHistory: (store) => store.readHistory('s7', 20),
  'readHistory of replaced turns': (store) => store.readHistory('s7', 20, { replaced: true }),
  'readHistory before a replaced turn': (store) => store.readHistory('s7', 20, { replaced: true, before: 'r40007' }),
  'readHistory before a turn': (store) => store.readHistory('s7', 20, { before: 'r40007' }),
  'readHistory up to a turn': (store) => store.readHistory('s7', 20, { upTo: 'r40007' }),
  findStateBefore: (store) => store.findStateBefore('r40007'),
  findStateAfter: (store) => store.findStateAfter?.('r40007') ?? Promise.resolve(),
  findCached: (store) => store.findCached('k'),
  findSummary: (store) => store.findSummary('s7'),
  findFile: (store) => store.findFile('s7', 'f'),
  readFilePiece: (store) => store.readFilePiece('s7', 'f', 0),
  findFetched: (store) => store.findFetched('s7', 'https://example.com'),
  listFiles: (store) => store.listFiles('r7'),
  'readEvents of many': (store) => Promise.all(many((n) => store.readEvents(`r${n}`, 1, 100))),
  'findRun of many': (store) => Promise.all(many((n) => store.findRun(`r${n}`))),
  'readHistory of many': (store) => Promise.all(many((n) => store.readHistory(`s${n}`, 10))),
  'findSession of many': (store) => Promise.all(many((n) => store.findSession(`s${n}`))),
}
const many = <T>(read: (n: number) => Promise<T>) => Array.from({ length: 40 }, (_, index) => read(index + 1))

const page = { limit: 20 }
const pages: Record<string, Read> = {
  listRuns: (store) => store.listRuns({}, page),
  'listRuns of a user': (store) => store.listRuns({ user_id: 'u3' }, page),
  'listRuns of an agent': (store) => store.listRuns({ agent_id: 'a2' }, page),
  'listRuns of a session': (store) => store.listRuns({ session_id: 's7' }, page),
  'listRuns of a parent': (store) => store.listRuns({ parent_run_id: 'r7' }, page),
  'listRuns that failed': (store) => store.listRuns({ status: 'failed' }, page),
  'listRuns that run': (store) => store.listRuns({ status: 'running' }, page),
  'listRuns that completed': (store) => store.listRuns({ status: 'completed' }, page),
  listSessions: (store) => store.listSessions({}, page),
  'listSessions of a user': (store) => store.listSessions({ user_id: 'u3' }, page),
  'listSessions of an agent': (store) => store.listSessions({ agent_id: 'a2' }, page),
  'listSessions of a user and an agent': (store) => store.listSessions({ user_id: 'u3', agent_id: 'a2' }, page),
  'listOverviews as a user': (store) => store.listOverviews({ user_id: 'earlier', as_user: true }, page),
  'listOverviews that failed': (store) => store.listOverviews({ status: 'failed' }, page),
  'listOverviews that run': (store) => store.listOverviews({ status: 'running' }, page),
  'listOverviews that completed': (store) => store.listOverviews({ status: 'completed' }, page),
  'countSessions of a user': (store) => store.countSessions({ user_id: 'u3' }),
}

describePostgres('the plans of reads in Postgres', () => {
  let schema: Place
  let pools: Pools
  let sql: Connection
  let mayBeGeneric: boolean

  beforeAll(async () => {
    ;({ schema, pools } = await openSchema())
    sql = await pools.connect('test')
    const [server] = await sql.all<{ version: string }>(`SELECT current_setting('server_version_num') AS version`)
    mayBeGeneric = Number(server?.version) >= 160_000
  })
  afterAll(async () => {
    await sql.close()
    await pools.close()
    await schema.drop()
  })

  /** The tables that the statements of a read walk, with parameters that the planner knows and does not know. */
  async function walkedBy(read: Read): Promise<string[]> {
    const walked: string[] = []
    const look = async (text: string, params: readonly unknown[]) => {
      for (const isGeneric of mayBeGeneric ? [false, true] : [false]) {
        const explain = `EXPLAIN (FORMAT JSON${isGeneric ? ', GENERIC_PLAN' : ''})`
        const { rows } = await sql.client.query(`${explain} ${text}`, isGeneric ? undefined : [...params])
        for (const { Plan } of rows[0]['QUERY PLAN']) walked.push(...walksOf(Plan))
      }
    }
    const explaining: Sql = {
      async all(text, params = []) {
        await look(text, params)
        return sql.all(text, params)
      },
      run: (text, params) => sql.run(text, params),
    }
    const database = { read: explaining, maxReadBytes: 1e7, owners: new Owners(sql), now: () => at(0) }
    await read(reading(database as never))
    return walked.filter((table) => table === 'run' || table === 'session' || table === 'event')
  }

  const walks = async (reads: Record<string, Read>) => {
    const walking: Record<string, string[]> = {}
    // The store turns it off, and does not depend on that.
    for (const setting of ['on', 'off']) {
      await sql.exec(`SET enable_seqscan = ${setting}`)
      for (const [name, read] of Object.entries(reads)) {
        const walked = await walkedBy(read)
        if (walked.length > 0) walking[name] = walked
      }
    }
    return walking
  }

  it('find by a key in new tables, which a prepared statement may have been planned for', async () => {
    expect(await walks(byKey)).toEqual({})
  })

  describe('of a hundred thousand runs', () => {
    beforeAll(() => seed(sql))

    it('walk no table before it is analysed', async () => {
      expect(await walks(byKey)).toEqual({})
      expect(await walks(pages)).toEqual({})
    })

    it('walk no table once it is analysed', async () => {
      await sql.exec('ANALYZE')
      expect(await walks(byKey)).toEqual({})
      expect(await walks(pages)).toEqual({})
    })
  })
})

/** Indexes of the few runs that have not completed. */
const ofSome = new Set(['run_alive', 'run_one_running', 'run_queued', 'run_by_status'])

/** The tables that are read from their beginning, or an index of them. A page reads an index in order, to its limit. */
function walksOf(node: PlanNode, isLimited = false): string[] {
  const isIndex = /^Index|^Bitmap Index/.test(node['Node Type'])
  const isWhole = node['Index Cond'] === undefined && !ofSome.has(node['Index Name'] ?? '')
  const isWalk = node['Node Type'] === 'Seq Scan' || (isIndex && isWhole && !isLimited)
  const limits = node['Node Type'] === 'Limit'
  const own = isWalk ? [node['Relation Name'] ?? node['Node Type']] : []
  return [...own, ...(node.Plans ?? []).flatMap((plan) => walksOf(plan, limits))]
}

/** Sessions with five turns each; some turns failed, and some run. */
async function seed(sql: Sql): Promise<void> {
  const time = `to_char(timestamp '2026-01-01' + n * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  await sql.run(
    `INSERT INTO session (session_id, agent_id, user_id, created_at, updated_at, revision, run_count)
     SELECT 's' || n, 'a' || n % 3, CASE WHEN n % 10 = 0 THEN 'heavy' ELSE 'u' || n % 2000 END, ${time}, ${time}, 5, 5
     FROM generate_series(1, 20000) AS n`,
  )
  await sql.run(
    `INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, user_id, owner, fence, reserve_until, recorded_seq,
       end_seq, begun, ended, input, output)
     SELECT 'r' || n, 's' || (n - 1) % 20000 + 1, 'a' || n % 3, 'agent',
       CASE WHEN n % 100 = 0 THEN 'failed' WHEN n > 99980 THEN 'running' ELSE 'completed' END, 'u' || n % 2000, 1, 1, 1000,
       40, 41, json_build_object('entity_kind', 'agent', 'created_at', ${time})::text,
       '{"completed_at":"2026-01-01T00:00:00.000Z","end_seq":41}', '[["m","user",[{"type":"text","text":"Hello there"}],"t"]]',
       '[["n","assistant",[{"type":"text","text":"Hello you"}],"t"]]'
     FROM generate_series(1, 100000) AS n`,
  )
  await sql.run(
    `INSERT INTO event SELECT run_number, part * 20, '[]' FROM run CROSS JOIN generate_series(1, 2) AS part
     WHERE run_number % 2 = 0 OR run_id = 'r7'`,
  )
  await sql.run(
    `INSERT INTO session_owner SELECT 's' || n, 'user', 'earlier', 0, ${time}, 40000 + n FROM generate_series(1, 500) AS n`,
  )
}
