import type { PushConfig, PushDuty, PushStore } from '../../../core/push.ts'
import type { Sql } from '../../postgres/connection.ts'
import { isStorable } from '../../postgres/text.ts'
import type { Database } from './database.ts'
import { aliveInstances } from './schema/instances.ts'

/** Push configs in Postgres. Their senders are instances. */
export function pushStore({ read, work, owners }: Database): PushStore {
  return {
    async savePushConfig(config, owner, max) {
      if (!isStorable(config.run_id)) return 'missing'
      const key = await owners.keyOf(owner)
      return work((sql) => save(sql, config, key, max))
    },
    async listPushConfigs(runId) {
      if (!isStorable(runId)) return []
      const sql = `SELECT ${configFields} FROM push_config WHERE run_id = $1 ORDER BY config_id`
      return (await read.all<ConfigRow>(sql, [runId])).map(toConfig)
    },
    async deletePushConfig(runId, configId) {
      if (!isStorable(runId) || !isStorable(configId)) return false
      const sql = 'DELETE FROM push_config WHERE run_id = $1 AND config_id = $2'
      return (await work((transaction) => transaction.run(sql, [runId, configId]))) > 0
    },
    async takePushConfigs(runId, owner) {
      if (!isStorable(runId)) return []
      const sql = `UPDATE push_config SET ${taken} WHERE run_id = $2 RETURNING ${dutyFields}`
      const key = await owners.keyOf(owner)
      return (await work((transaction) => transaction.all<DutyRow>(sql, [key, runId]))).map(toDuty)
    },
    async adoptPushConfigs(owner, limit) {
      const key = await owners.keyOf(owner)
      const [found] = await read.all(`SELECT 1 AS found FROM push_config WHERE ${left} LIMIT 1`, [key])
      if (found === undefined) return []
      return (await work((sql) => sql.all<DutyRow>(adopt, [key, limit]))).map(toDuty)
    },
    async settlePushConfig({ run_id, config_id, fence }, { failures, unsent }) {
      const sql = `UPDATE push_config SET failures = $4, unsent = $5 WHERE run_id = $1 AND config_id = $2 AND fence = $3`
      return (await work((transaction) => transaction.run(sql, [run_id, config_id, fence, failures, unsent]))) > 0
    },
  }
}

const configFields = 'run_id, config_id, url, token, authentication, version, created_at'
const dutyFields = `${configFields}, fence, failures`
const taken = 'owner = $1, fence = fence + 1, unsent = true'
const left = `unsent AND owner <> $1 AND owner NOT IN ${aliveInstances}`

const adopt = `UPDATE push_config SET ${taken} WHERE (run_id, config_id) IN (
    SELECT run_id, config_id FROM push_config WHERE ${left} LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING ${dutyFields}`

// A run that is deleted at this moment waits, and then takes the config with it.
const insert = `INSERT INTO push_config AS present (${configFields}, owner, fence, failures, unsent)
  SELECT run_id, $2, $3, $4, $5, $6, $7, $8, 1, 0, true FROM run WHERE run_id = $1 FOR KEY SHARE
  ON CONFLICT (run_id, config_id) DO UPDATE SET url = excluded.url, token = excluded.token,
    authentication = excluded.authentication, version = excluded.version, created_at = excluded.created_at,
    owner = excluded.owner, fence = present.fence + 1, failures = 0, unsent = true
  RETURNING ${dutyFields}`

async function save(
  sql: Sql,
  { run_id, config_id, url, token, authentication, version, created_at }: PushConfig,
  owner: number,
  max: number,
): Promise<PushDuty | 'full' | 'missing'> {
  // Two that come at the same time are counted one after the other.
  await sql.all('SELECT pg_advisory_xact_lock(hashtext($1))', [`push:${run_id}`])
  const others = 'SELECT count(*) AS others FROM push_config WHERE run_id = $1 AND config_id <> $2'
  const [counted] = await sql.all<{ others: number }>(others, [run_id, config_id])
  if ((counted?.others ?? 0) >= max) return 'full'
  const written = authentication && JSON.stringify(authentication)
  const [saved] = await sql.all<DutyRow>(insert, [run_id, config_id, url, token, written, version, created_at, owner])
  return saved === undefined ? 'missing' : toDuty(saved)
}

interface ConfigRow extends Omit<PushConfig, 'authentication'> {
  authentication: string | null
}
type DutyRow = ConfigRow & Pick<PushDuty, 'fence' | 'failures'>

function toConfig(row: ConfigRow): PushConfig {
  return { ...row, authentication: JSON.parse(row.authentication ?? 'null') }
}

function toDuty({ fence, failures, ...row }: DutyRow): PushDuty {
  return { ...toConfig(row), fence, failures }
}
