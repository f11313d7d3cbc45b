import type { Beat, Instance, Peer } from '../../../../core/cluster/cluster.ts'
import { AppError } from '../../../../core/error.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { oldestTransactionSeconds } from '../../../postgres/oldest-transaction.ts'
import { type AppliedStep, assertUsable, newestOf } from '../schema/applied.ts'
import { isAlive } from '../schema/instances.ts'
import { sharedLock } from '../schema/lock.ts'
import type { Step } from '../schema/steps.ts'

/** The rows of instances. No clock but the database's is looked at, and that only to forget old rows. */

export const isOver = '(dead_at IS NOT NULL OR left_at IS NOT NULL)'

/** What a dead owner may leave: active runs and idempotency keys at work. Each is one probe of an index. */
const leavesWork = `coalesce(
  (SELECT true FROM run WHERE owner = instance_key AND status IN ('running', 'queued') LIMIT 1),
  (SELECT true FROM claim WHERE owner = instance_key AND run_id IS NULL AND answer IS NULL LIMIT 1), false)`

// The answer of an earlier attempt may have been lost: an instance that has had no beat may join again.
// Who applies a contract step sees it, or it sees the step afterwards.
const insertInstance = `WITH turn AS MATERIALIZED (SELECT ${sharedLock})
  INSERT INTO instance AS i (owner, role, address, app_version, entities, dead_after_ms, schema_known, joined_at)
  SELECT $1, $2, $3, $4, $5, $6::int, $7::int, clock_timestamp() FROM turn
  ON CONFLICT (owner) DO UPDATE SET role = excluded.role, address = excluded.address, app_version = excluded.app_version,
    entities = excluded.entities, dead_after_ms = excluded.dead_after_ms, schema_known = excluded.schema_known, joined_at = excluded.joined_at
  WHERE i.joined_at IS NULL OR (i.beat = 0 AND i.dead_at IS NULL AND i.left_at IS NULL)
  RETURNING instance_key`

const deleteOld = `DELETE FROM instance WHERE ${isOver} AND coalesce(dead_at, left_at) < clock_timestamp() - interval '1 hour'
  AND NOT ${leavesWork}`

/** Throws `unavailable` when the tables were changed since they were looked at, so that it can't work with them. */
export async function insert(sql: Sql, self: Instance, known: readonly Step[]): Promise<number> {
  const { owner, role, address, version, entities, deadAfterMs } = self
  await sql.run(deleteOld)
  const params = [owner, role, address, version, JSON.stringify(entities), deadAfterMs, newestOf(known)]
  const [row] = await sql.all<{ instance_key: number }>(insertInstance, params)
  if (row === undefined) throw new AppError('conflict', `The instance '${owner}' has joined already.`)
  try {
    assertUsable(known, await sql.all<AppliedStep>(`SELECT step, kind FROM schema_version`))
  } catch (error) {
    await leave(sql, row.instance_key)
    throw error
  }
  return row.instance_key
}

interface PeerRow extends Omit<Peer, 'entities' | 'beat'> {
  entities: string
  beat: number
}

const peerFields = `instance_key AS key, owner, address, app_version AS version, entities, beat, dead_after_ms AS "deadAfterMs",
  schema_known AS knows`
const selectPeers = `SELECT ${peerFields} FROM instance WHERE ${isAlive} AND instance_key <> $1 ORDER BY instance_key`

export async function readPeers(sql: Pick<Sql, 'all'>, own: number): Promise<Peer[]> {
  return (await sql.all<PeerRow>(selectPeers, [own])).map(toPeer)
}

function toPeer({ entities, beat, ...peer }: PeerRow): Peer {
  return { ...peer, entities: JSON.parse(entities), beat: `${beat}` }
}

const toCancel = `FROM run WHERE owner = $1 AND cancel_reason IS NOT NULL AND status IN ('running', 'queued')`
const selectCancels = `SELECT run_id, cancel_reason AS reason ${toCancel}`

export async function readCancels(sql: Pick<Sql, 'all'>, own: number): Promise<Beat['cancels']> {
  return sql.all<Beat['cancels'][number]>(selectCancels, [own])
}

const updateBeat = `WITH own AS (
    UPDATE instance SET beat = beat + 1, beat_at = clock_timestamp() WHERE instance_key = $1 AND ${isAlive} RETURNING role)
  SELECT (SELECT role FROM own) AS role,
    (SELECT json_agg(json_build_object('run_id', run_id, 'reason', cancel_reason)) ${toCancel}) AS cancels,
    (SELECT json_agg(peer) FROM (${selectPeers}) AS peer) AS peers,
    (SELECT json_agg(instance_key ORDER BY instance_key) FROM instance WHERE ${isOver} AND ${leavesWork}) AS orphaned,
    ${oldestTransactionSeconds} AS oldest`

interface BeatRow {
  role: Instance['role'] | null
  cancels: Beat['cancels'] | null
  peers: PeerRow[] | null
  orphaned: number[] | null
  oldest: number
}

export async function beat(sql: Sql, own: number): Promise<Beat> {
  const [row] = await sql.all<BeatRow>(updateBeat, [own])
  if (row === undefined || row.role === null) return { lost: true, cancels: [], peers: [], orphaned: [] }
  return {
    lost: false,
    cancels: row.cancels ?? [],
    peers: (row.peers ?? []).map(toPeer),
    orphaned: row.role === 'guest' ? [] : (row.orphaned ?? []),
    oldestTransactionSeconds: row.oldest,
  }
}

const updateDead = `UPDATE instance SET dead_at = clock_timestamp()
  WHERE instance_key = $2 AND beat = $3::bigint AND ${isAlive}
    AND EXISTS (SELECT FROM instance WHERE instance_key = $1 AND ${isAlive})`

export async function declareDead(sql: Sql, own: number, peer: number, beatThen: string): Promise<boolean> {
  return (await sql.run(updateDead, [own, peer, beatThen])) === 1
}

/** Also a dead one has left, so that it is forgotten once. */
const updateLeft = `UPDATE instance SET left_at = clock_timestamp() WHERE instance_key = $1 AND left_at IS NULL`

export async function leave(sql: Sql, own: number): Promise<void> {
  await sql.run(updateLeft, [own])
}
