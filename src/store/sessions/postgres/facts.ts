import type { Fact, FactSaved, FactStore } from '../../../core/memory/fact.ts'
import type { Sql } from '../../postgres/connection.ts'
import { isStorable } from '../../postgres/text.ts'
import type { Database } from './database.ts'

export function factStore({ read, work }: Database): FactStore {
  return {
    async listFacts(userId) {
      if (!isStorable(userId)) return []
      const sql = `SELECT ${fields} FROM fact WHERE user_id = $1 ORDER BY created_at, fact_id`
      return read.all<Fact>(sql, [userId])
    },
    saveFact: (userId, fact, max) => work((sql) => save(sql, userId, fact, max)),
    async deleteFact(userId, factId) {
      if (!isStorable(userId) || !isStorable(factId)) return false
      const sql = 'DELETE FROM fact WHERE user_id = $1 AND fact_id = $2'
      return (await work((transaction) => transaction.run(sql, [userId, factId]))) > 0
    },
    async deleteFacts(userId) {
      return isStorable(userId) ? work((sql) => deleteFacts(sql, userId)) : 0
    },
  }
}

export function deleteFacts(sql: Sql, userId: string): Promise<number> {
  return sql.run('DELETE FROM fact WHERE user_id = $1', [userId])
}

const fields = 'fact_id, content, agent_id, run_id, created_at'

const look = `SELECT EXISTS (SELECT 1 FROM fact WHERE user_id = $1 AND fact_id = $2) AS "isKnown",
  (SELECT count(*) FROM fact WHERE user_id = $1) AS present`

async function save(sql: Sql, userId: string, fact: Fact, max: number): Promise<FactSaved> {
  const { fact_id, content, agent_id, run_id, created_at } = fact
  // Whatever ends or deletes the run waits for this transaction.
  const running = `SELECT 1 AS found FROM run WHERE run_id = $1 AND status = 'running' FOR NO KEY UPDATE`
  if ((await sql.all(running, [run_id])).length === 0) return 'ended'
  // Runs of one user that remember at the same time are counted one after the other.
  await sql.all('SELECT pg_advisory_xact_lock(hashtext($1))', [`facts:${userId}`])
  const [found] = await sql.all<{ isKnown: boolean; present: number }>(look, [userId, fact_id])
  if (found?.isKnown === true) return 'known'
  if ((found?.present ?? 0) >= max) return 'full'
  await sql.run(`INSERT INTO fact (user_id, ${fields}) VALUES ($1, $2, $3, $4, $5, $6)`, [
    ...[userId, fact_id, content, agent_id, run_id, created_at],
  ])
  return 'saved'
}
