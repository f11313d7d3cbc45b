import type { StoreCluster } from '../../../../core/cluster/cluster.ts'
import { AppError } from '../../../../core/error.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { toStoreError } from '../../../postgres/failure.ts'
import { SteadyConnection } from '../../../postgres/steady-connection.ts'
import type { Database } from '../database.ts'
import * as instances from './instances.ts'
import { Recovery } from './recovery.ts'
import { Wires } from './wires.ts'

const beatLimits = { statementMs: 2_000, answerMs: 2_500 }

const updateCancel = `UPDATE run SET cancel_reason = $2 WHERE run_id = $1 AND status IN ('running', 'queued') RETURNING owner`

export interface PostgresCluster {
  cluster: StoreCluster
  wires: Wires
  recovery: Recovery
  /** Ends what `join` has opened. */
  close(): Promise<void>
}

/** `lost`: this instance was declared dead; nothing that it has not written yet can succeed. */
export function postgresCluster(database: Database, lost: () => void): PostgresCluster {
  const wires = new Wires(database)
  const control = new SteadyConnection(() => database.pools, 'control', beatLimits)
  const recovery = new Recovery(database)
  const owners = database.owners

  async function controlling<T>(use: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      return await control.use(use)
    } catch (error) {
      throw toStoreError(error)
    }
  }

  function ownKey(): number {
    if (owners.own === undefined) throw new AppError('unavailable', 'This instance has not joined.')
    return owners.own
  }

  const cluster: StoreCluster = {
    async join(self) {
      const key = await controlling((sql) => instances.insert(sql, self, database.steps))
      owners.joined(self.owner, key)
      await wires.open(key)
      const peers = await controlling((sql) => instances.readPeers(sql, key))
      wires.meet(peers.map((peer) => peer.key))
      return peers
    },
    async beat() {
      const key = ownKey()
      const beat = await controlling((sql) => instances.beat(sql, key))
      if (beat.lost) lost()
      wires.check(beat.peers.map((peer) => peer.key))
      return { ...beat, orphaned: [...new Set([...beat.orphaned, ...recovery.doubtful])] }
    },
    async declareDead(peer, beat) {
      const key = ownKey()
      return controlling((sql) => instances.declareDead(sql, key, peer, beat))
    },
    takeOver: async (peer, at, limit) => recovery.takeOver(ownKey(), peer, at, limit),
    async leave() {
      const key = ownKey()
      const peers = await controlling(async (sql) => {
        await instances.leave(sql, key)
        return instances.readPeers(sql, key)
      })
      for (const peer of peers) wires.tell(peer.key, { kind: 'left' })
      await wires.flush()
    },
    async requestCancel(runId, reason) {
      const [run] = await database.work((sql) => sql.all<{ owner: number }>(updateCancel, [runId, reason]))
      if (run === undefined) return 'not_running'
      wires.tell(run.owner, { kind: 'cancel' })
      return 'asked'
    },
    onWake: (listener) => wires.onWake(listener),
    follow: (runId) => wires.follow(runId),
    unfollow: (runId) => wires.unfollow(runId),
    watch: (listener) => wires.watches.watch(listener),
    unwatch: () => wires.watches.unwatch(),
    get isWatched() {
      return wires.watches.isWatched
    },
    publish: (change) => wires.watches.publish(change),
  }

  return {
    cluster,
    wires,
    recovery,
    async close() {
      owners.left()
      await wires.close()
      await control.close()
    },
  }
}
