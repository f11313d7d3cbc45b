import { silentLogger } from '../../../src/core/logger.ts'
import type { Sql } from '../../../src/store/postgres/connection.ts'
import { Pools } from '../../../src/store/postgres/pools.ts'
import { postgresStore } from '../../../src/store/sessions/postgres/store.ts'
import { testPostgres } from './test-postgres.ts'

/** What `EXPLAIN (FORMAT JSON)` tells of a step. */
export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  Plans?: PlanNode[]
}

/** Tables and whole indexes that a plan reads from beginning to end. */
export function walked(node: PlanNode): string[] {
  const type = node['Node Type']
  const below = (node.Plans ?? []).flatMap(walked)
  if (type === 'Seq Scan') return [node['Relation Name'] ?? '', ...below]
  if (/^(?:Bitmap )?Index/.test(type) && node['Index Cond'] === undefined) return [node['Index Name'] ?? '', ...below]
  return below
}

/** The same statements; the plan of each is looked at before it runs. */
export function explaining(sql: Sql, look: (plan: PlanNode) => void): Sql {
  const explain = async (text: string, params: readonly unknown[]) => {
    // Others have no plan.
    if (!/^\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)/.test(text)) return
    const [row] = await sql.all<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(`EXPLAIN (FORMAT JSON) ${text}`, params)
    for (const { Plan } of row?.['QUERY PLAN'] ?? []) look(Plan)
  }
  return {
    async all(text, params = []) {
      await explain(text, params)
      return sql.all(text, params)
    },
    async run(text, params = []) {
      await explain(text, params)
      return sql.run(text, params)
    },
  }
}

/** A schema as the store makes it, with nothing in it, and connections to it. The caller closes and drops them. */
export async function openSchema() {
  const { url, newSchema } = await testPostgres()
  const schema = newSchema()
  const store = postgresStore({ url, schema: schema.name })
  await store.open()
  await store.close()
  return { schema, pools: new Pools({ url, schema: schema.name, connections: 'direct', logger: silentLogger }) }
}
