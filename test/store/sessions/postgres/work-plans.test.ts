import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/core/logger.ts'
import type { Sql } from '../../../../src/store/postgres/connection.ts'
import type { Pools } from '../../../../src/store/postgres/pools.ts'
import type { Database } from '../../../../src/store/sessions/postgres/database.ts'
import { tidy } from '../../../../src/store/sessions/postgres/expiry.ts'
import { factStore } from '../../../../src/store/sessions/postgres/facts.ts'
import { files } from '../../../../src/store/sessions/postgres/files/files.ts'
import { keys } from '../../../../src/store/sessions/postgres/keys.ts'
import { Owners } from '../../../../src/store/sessions/postgres/owners.ts'
import { sessions } from '../../../../src/store/sessions/postgres/sessions.ts'
import { summaries } from '../../../../src/store/sessions/postgres/summaries.ts'
import { at, claimOf, seedOf } from '../../../contract/session-store/builders.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { explaining, openSchema, type PlanNode, walked } from '../../../support/postgres/plans.ts'
import type { Place } from '../../../support/postgres/test-postgres.ts'

type Store = ReturnType<typeof sessions> &
  ReturnType<typeof factStore> &
  ReturnType<typeof files> &
  ReturnType<typeof keys> &
  ReturnType<typeof summaries>

const summary = { session_id: 's7', content: '', model: '', run_count: 1, message_count: 1, created_at: at(1) }
const file = { session_id: 's7', run_id: 'new', media_type: 'a/b', name: null, url: null, bytes: new Uint8Array(1) }
const fact = { fact_id: 'new', content: 'likes tea', agent_id: 'a7', run_id: 'r7', created_at: at(1) }
const works: Record<string, (store: Store, database: Database) => Promise<unknown>> = {
  createSession: (store) => store.createSession(seedOf(), claimOf('new')),
  updateSession: (store) => store.updateSession('s7', { name: 'n' }, at(1)),
  shareSession: (store) => store.shareSession('s7', { user_id: 'new' }, at(1)),
  unshareSession: (store) => store.unshareSession('s7', 'user', 'u7', at(1)),
  claim: (store) => store.claim(claimOf('k7')),
  completeClaim: (store) => store.completeClaim('k7', 1),
  releaseClaim: (store) => store.releaseClaim('k7'),
  cacheAnswer: (store) => store.cacheAnswer({ key: 'a7', run_id: 'r7', expires_at: at(1) }),
  scheduleSummary: (store) => store.scheduleSummary('s7', at(1)),
  beginSummaryJob: (store) => store.beginSummaryJob('s7'),
  saveSummary: (store) => store.saveSummary(summary, 'r7'),
  dropSummaryJob: (store) => store.dropSummaryJob('s7'),
  saveFile: (store) => store.saveFile(file),
  dropFiles: (store) => store.dropFiles('new'),
  deleteSession: (store) => store.deleteSession('s8'),
  deleteTries: (store) => store.deleteTries(at(1), 20),
  prune: (store) => store.prune({ olderThan: '2026-01-01T00:01:00.000Z' }, 20),
  'prune of a user': (store) => store.prune({ olderThan: '2027', filter: { user_id: 'u9' }, presentUser: 'u9' }, 20),
  eraseUser: (store) => store.eraseUser('u6', 10),
  saveFact: (store) => store.saveFact('u7', fact, 100),
  deleteFact: (store) => store.deleteFact('u7', 'f7'),
  deleteFacts: (store) => store.deleteFacts('u8'),
  tidy: (_, database) => tidy(database),
}

/** Sorts of what is locked, which take all of it for each step. */
function sorted(node: PlanNode): string[] {
  const below = (node.Plans ?? []).flatMap(sorted)
  return node['Node Type'] === 'LockRows' && node.Plans?.[0]?.['Node Type'] === 'Sort' ? ['a sort', ...below] : below
}

describePostgres('the plans of writes off the path of runs', () => {
  let schema: Place
  let pools: Pools

  beforeAll(async () => {
    ;({ schema, pools } = await openSchema())
  })
  afterAll(async () => {
    await pools.close()
    await schema.drop()
  })

  /** By work, what its statements walk of tables that grow with the sessions. */
  async function walks(): Promise<Record<string, string[]>> {
    const all: Record<string, string[]> = {}
    for (const [name, use] of Object.entries(works)) {
      const found: string[] = []
      const database = {
        work: (work: (sql: Sql) => Promise<unknown>) =>
          pools.work((sql) => work(explaining(sql, (plan) => found.push(...walked(plan), ...sorted(plan))))),
        owners: new Owners(pools.read),
        now: () => at(0),
        logger: silentLogger,
      } as unknown as Database
      const store = {
        ...sessions(
          database,
          (work) => work(false),
          () => {},
        ),
        ...factStore(database),
        ...files(database),
        ...keys(
          database,
          (work) => work(false),
          () => {},
        ),
        ...summaries(database),
      }
      await use(store, database)
      // Only the keys themselves tell whose they are.
      const walkable = name === 'eraseUser' ? /^(?:instance|unused_content|claim_pkey)/ : /^(?:instance|unused_content)/
      const large = found.filter((place) => !walkable.test(place) && (place !== 'a sort' || name === 'deleteSession'))
      if (large.length > 0) all[name] = large
    }
    return all
  }

  it('walk no table, whatever the planner knows of it', async () => {
    await pools.work((sql) => seed(sql, 1, 20))
    expect(await walks(), 'small').toEqual({})
    await pools.work((sql) => seed(sql, 21, 20_000))
    expect(await walks(), 'grown').toEqual({})
    await pools.work((sql) => sql.run('ANALYZE'))
    expect(await walks(), 'analysed').toEqual({})
  })
})

/** Sessions with one run each; some of the runs are tries. */
async function seed(sql: Sql, from: number, to: number): Promise<void> {
  const time = `to_char(timestamp '2026-01-01' + n * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  const numbers = `generate_series(${from}, ${to}) AS n`
  for (const text of [
    `INSERT INTO session (session_id, agent_id, user_id, created_at, updated_at, revision, run_count)
     SELECT 's' || n, 'a' || n % 3, 'u' || n % 2000, ${time}, ${time}, 1, 2 FROM ${numbers}`,
    `INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, user_id, parent_run_id, owner, fence, reserve_until,
       recorded_seq, end_seq, begun, ended, input)
     SELECT 'r' || n, 's' || n, 'a' || n % 3, 'agent', CASE WHEN n = 7 THEN 'running' ELSE 'completed' END, 'u' || n % 2000, CASE WHEN n % 100 = 0 THEN '' END,
       1, 1, 1000, 40, 41, '{}', '{"completed_at":"' || ${time} || '"}', '[]' FROM ${numbers}`,
    `INSERT INTO event SELECT run_number, 2, '[' || repeat(' ', 100) || ']' FROM run WHERE run_number >= ${from}`,
    `INSERT INTO session_owner SELECT 's' || n, 'user', 'earlier', 0, ${time}, n FROM ${numbers}`,
    `INSERT INTO session_usage SELECT 's' || n, '', 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0 FROM ${numbers}`,
    `INSERT INTO claim SELECT 'k' || n, 'h', '2031', 'r' || n, NULL, 1 FROM ${numbers}`,
    `INSERT INTO cached_answer SELECT 'a' || n, 'r' || n, '2031' FROM ${numbers}`,
    `INSERT INTO file SELECT 's' || n, 'f', 'r' || n, 'h' || n, 'a/b', NULL, 1, NULL, NULL FROM ${numbers}`,
    `INSERT INTO file_content SELECT 'h' || n, 0, 'x' FROM ${numbers}`,
    `INSERT INTO summary SELECT 's' || n, '"x"', 'm', 1, 1, '2026' FROM ${numbers}`,
    `INSERT INTO fact SELECT 'u' || n % 2000, 'f' || n, 'likes tea', 'a', 'r' || n, ${time} FROM ${numbers}`,
    `INSERT INTO run_words SELECT run_number, '' FROM run WHERE run_number >= ${from}`,
  ])
    await sql.run(text)
}
