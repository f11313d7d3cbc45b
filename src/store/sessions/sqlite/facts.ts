import type { Fact, FactSaved, FactStore } from '../../../core/memory/fact.ts'
import type { Connection, SqlRow } from '../../sqlite/connection.ts'
import { isShown } from './schema/hidden.ts'

type Using = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/** `onDeleted`: something was deleted. */
export function factStore(reading: Using, working: Using, onDeleted: () => void): FactStore {
  async function deleting(remove: (writer: Connection) => Promise<number>): Promise<number> {
    const count = await working(remove)
    if (count > 0) onDeleted()
    return count
  }

  return {
    async listFacts(userId) {
      const sql = 'SELECT * FROM facts WHERE fact_user_id = ? ORDER BY fact_created_at, fact_id'
      return (await reading((connection) => connection.all(sql, [userId]))).map(toFact)
    },
    saveFact: (userId, fact, max) => working((writer) => save(writer, userId, fact, max)),
    deleteFact: (userId, factId) =>
      deleting((writer) =>
        writer.run('DELETE FROM facts WHERE fact_user_id = ? AND fact_id = ?', [userId, factId]),
      ).then((count) => count > 0),
    deleteFacts: (userId) => deleting((writer) => deleteFacts(writer, userId)),
  }
}

export function deleteFacts(writer: Connection, userId: string): Promise<number> {
  return writer.run('DELETE FROM facts WHERE fact_user_id = ?', [userId])
}

const look = `SELECT
  EXISTS (SELECT 1 FROM runs WHERE run_id = ?3 AND status = 'running' AND ${isShown}) AS isRunning,
  EXISTS (SELECT 1 FROM facts WHERE fact_user_id = ?1 AND fact_id = ?2) AS isKnown,
  (SELECT count(*) FROM facts WHERE fact_user_id = ?1) AS present`

const insert = `INSERT INTO facts (fact_user_id, fact_id, fact_content, fact_agent_id, fact_run_id, fact_created_at)
  VALUES (?, ?, ?, ?, ?, ?)`

async function save(writer: Connection, userId: string, fact: Fact, max: number): Promise<FactSaved> {
  const { fact_id, content, agent_id, run_id, created_at } = fact
  const [found] = await writer.all(look, [userId, fact_id, run_id])
  if (found?.isRunning !== 1) return 'ended'
  if (found.isKnown === 1) return 'known'
  if ((found.present as number) >= max) return 'full'
  await writer.run(insert, [userId, fact_id, content, agent_id, run_id, created_at])
  return 'saved'
}

function toFact(row: SqlRow): Fact {
  return {
    fact_id: row.fact_id as string,
    content: row.fact_content as string,
    agent_id: row.fact_agent_id as string,
    run_id: row.fact_run_id as string,
    created_at: row.fact_created_at as string,
  }
}
