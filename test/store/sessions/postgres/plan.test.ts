import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { settingsOf } from '../../../../src/store/postgres/settings.ts'
import { postgresStore } from '../../../../src/store/sessions/postgres/store.ts'
import { documentsOf, has, hotStatement } from '../../../../src/store/sessions/postgres/writing/hot-statement.ts'
import { describePostgres } from '../../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../../support/postgres/test-postgres.ts'

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'CTE Name'?: string
  'Index Cond'?: string
  'Join Type'?: string
  Plans?: PlanNode[]
}

const everything = Object.values(has).reduce<number>((all, one) => all | one, 0)
const groups: Record<string, number> = {
  starts: has.starts,
  appends: has.appends,
  ends: has.ends | has.usage | has.turns,
  everything,
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

/** What would read more rows than it looks for. */
function wrongIn(plan: PlanNode): string[] {
  const large = new Set(['run', 'session', 'event', 'session_owner', 'session_usage', 'claim'])
  const wrong: string[] = []
  for (const node of nodesOf(plan)) {
    const relation = node['Relation Name'] ?? ''
    const type = node['Node Type']
    if (large.has(relation) && type === 'Seq Scan') wrong.push(`${type} on ${relation}`)
    if (/^(?:Bitmap )?Index/.test(type) && node['Index Cond'] === undefined) wrong.push(`all of ${node['Index Name']}`)
    if (node['Index Name'] === 'run_alive') wrong.push('run_alive')
    if (type === 'Nested Loop') {
      const inner = node.Plans?.[1]
      if (inner !== undefined && nodesOf(inner).some((one) => /CTE|Function/.test(one['Node Type'])))
        wrong.push('nested loop over rows of a document')
    }
  }
  return wrong
}

describePostgres('the plan of a group', () => {
  let schema: Place
  let sql: Client

  beforeAll(async () => {
    const { url, newSchema } = await testPostgres()
    schema = newSchema()
    const store = postgresStore({ url, schema: schema.name })
    await store.open()
    await store.close()
    // The settings of the connection that writes groups, and a plan for any parameters, as it keeps one.
    const options = Object.entries({
      ...settingsOf(schema.name, { isLookup: true }),
      plan_cache_mode: 'force_generic_plan',
    })
    sql = new Client({
      connectionString: url,
      options: options.map(([name, value]) => `-c ${name}=${value}`).join(' '),
    })
    await sql.connect()
  })
  afterAll(async () => {
    await sql.end()
    await schema.drop()
  })

  async function wrongNow(): Promise<Record<string, string[]>> {
    const wrong: Record<string, string[]> = {}
    for (const [name, mask] of Object.entries(groups)) {
      const documents = documentsOf(mask)
      await sql.query(`PREPARE one (int, ${documents.map(() => 'text').join(', ')}) AS ${hotStatement(mask)}`)
      const { rows } = await sql.query(
        `EXPLAIN (FORMAT JSON) EXECUTE one (1, ${documents.map(() => `'[]'`).join(', ')})`,
      )
      await sql.query('DEALLOCATE one')
      const found = wrongIn(rows[0]['QUERY PLAN'][0].Plan)
      if (found.length > 0) wrong[name] = found
    }
    return wrong
  }

  /** Rows as ended, running and waiting runs leave them. */
  async function fill(from: number, count: number): Promise<void> {
    const numbers = `generate_series(${from}, ${from + count - 1}) AS n`
    await sql.query(`INSERT INTO session (session_id, agent_id, user_id, created_at, updated_at, revision, run_count)
      SELECT 'ses_' || n, 'a', 'u' || n % 1000, '2030', '2030' || n, 2, 1 FROM ${numbers}`)
    await sql.query(`INSERT INTO run (run_id, session_id, entity_id, entity_kind, status, user_id, owner, fence,
        reserve_until, recorded_seq, begun, input)
      SELECT 'run_' || n, 'ses_' || n, 'a', 'agent', CASE n % 100 WHEN 0 THEN 'running' WHEN 1 THEN 'queued'
        ELSE 'completed' END, 'u' || n % 1000, 1, 1, 1000, 1, '{}', repeat('x', 300) FROM ${numbers}`)
    await sql.query(`INSERT INTO event SELECT n, 2, repeat('z', 100) FROM ${numbers}`)
    await sql.query(
      `INSERT INTO session_owner SELECT 'ses_' || n, 'user', 'u', 0, '2030' FROM ${numbers} WHERE n % 10 = 0`,
    )
    await sql.query(`INSERT INTO session_usage SELECT 'ses_' || n, '', 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0 FROM ${numbers}`)
  }

  it('looks up rows by keys in tables that are empty, small or large, with and without statistics', async () => {
    expect(await wrongNow(), 'empty').toEqual({})
    await fill(1, 20)
    expect(await wrongNow(), 'small').toEqual({})
    await sql.query('ANALYZE run, session, event, session_owner, session_usage')
    expect(await wrongNow(), 'small, with statistics').toEqual({})
    await fill(100, 100_000)
    expect(await wrongNow(), 'grown since the statistics').toEqual({})
    await sql.query('ANALYZE run, session, event, session_owner, session_usage')
    expect(await wrongNow(), 'large, with statistics').toEqual({})
  })
})
