import type { PushConfig, PushDuty, PushStore, PushVersion } from '../../../core/push.ts'
import type { Connection, SqlRow } from '../../sqlite/connection.ts'
import { isShown } from './schema/hidden.ts'

type Using = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/** Push configs in SQLite, where any other sender than the present process is gone. */
export function pushStore(reading: Using, working: Using): PushStore {
  return {
    savePushConfig: (config, owner, max) => working((writer) => save(writer, config, owner, max)),
    async listPushConfigs(runId) {
      const sql = `SELECT * FROM push_configs WHERE push_run_id = ? AND ${ofShownRun} ORDER BY push_config_id`
      return (await reading((connection) => connection.all(sql, [runId]))).map(toConfig)
    },
    deletePushConfig: (runId, configId) =>
      working(async (writer) => {
        const sql = 'DELETE FROM push_configs WHERE push_run_id = ? AND push_config_id = ?'
        return (await writer.run(sql, [runId, configId])) > 0
      }),
    takePushConfigs: (runId, owner) =>
      working(async (writer) => {
        const sql = `UPDATE push_configs SET ${taken} WHERE push_run_id = ? AND ${ofShownRun} RETURNING *`
        return (await writer.all(sql, [owner, runId])).map(toDuty)
      }),
    async adoptPushConfigs(owner, limit) {
      const left = `push_unsent = 1 AND push_owner <> ? AND ${ofShownRun}`
      const [found] = await reading((connection) =>
        connection.all(`SELECT 1 FROM push_configs WHERE ${left} LIMIT 1`, [owner]),
      )
      if (found === undefined) return []
      return working(async (writer) => {
        const sql = `UPDATE push_configs SET ${taken} WHERE (push_run_id, push_config_id) IN
          (SELECT push_run_id, push_config_id FROM push_configs WHERE ${left} LIMIT ?) RETURNING *`
        return (await writer.all(sql, [owner, owner, limit])).map(toDuty)
      })
    },
    settlePushConfig: ({ run_id, config_id, fence }, { failures, unsent }) =>
      working(async (writer) => {
        const sql = `UPDATE push_configs SET push_failures = ?, push_unsent = ?
          WHERE push_run_id = ? AND push_config_id = ? AND push_fence = ?`
        return (await writer.run(sql, [failures, unsent ? 1 : 0, run_id, config_id, fence])) > 0
      }),
  }
}

const ofShownRun = `EXISTS (SELECT 1 FROM runs WHERE run_id = push_run_id AND ${isShown})`
const taken = 'push_owner = ?, push_fence = push_fence + 1, push_unsent = 1'

const insert = `INSERT INTO push_configs (push_run_id, push_config_id, push_url, push_token, push_authentication, push_version,
    push_created_at, push_owner, push_fence, push_failures, push_unsent)
  SELECT run_id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1, 0, 1 FROM runs WHERE run_id = ?1 AND ${isShown}
  ON CONFLICT DO UPDATE SET push_url = excluded.push_url, push_token = excluded.push_token,
    push_authentication = excluded.push_authentication, push_version = excluded.push_version,
    push_created_at = excluded.push_created_at, push_owner = excluded.push_owner, push_fence = push_fence + 1,
    push_failures = 0, push_unsent = 1
  RETURNING *`

async function save(
  writer: Connection,
  { run_id, config_id, url, token, authentication, version, created_at }: PushConfig,
  owner: string,
  max: number,
): Promise<PushDuty | 'full' | 'missing'> {
  const others = 'SELECT count(*) AS others FROM push_configs WHERE push_run_id = ? AND push_config_id <> ?'
  const [counted] = await writer.all(others, [run_id, config_id])
  if ((counted?.others as number) >= max) return 'full'
  const written = authentication && JSON.stringify(authentication)
  const [saved] = await writer.all(insert, [run_id, config_id, url, token, written, version, created_at, owner])
  return saved === undefined ? 'missing' : toDuty(saved)
}

function toConfig(row: SqlRow): PushConfig {
  return {
    run_id: row.push_run_id as string,
    config_id: row.push_config_id as string,
    url: row.push_url as string,
    token: row.push_token as string | null,
    authentication: JSON.parse((row.push_authentication as string | null) ?? 'null'),
    version: row.push_version as PushVersion,
    created_at: row.push_created_at as string,
  }
}

function toDuty(row: SqlRow): PushDuty {
  return { ...toConfig(row), fence: row.push_fence as number, failures: row.push_failures as number }
}
