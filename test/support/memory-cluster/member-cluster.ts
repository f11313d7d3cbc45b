import type { StoreCluster } from '../../../src/core/cluster/cluster.ts'
import { AppError } from '../../../src/core/error.ts'
import { isEnded } from '../../../src/core/run.ts'
import type { InstanceRow } from './instances.ts'
import type { SharedState } from './shared-state.ts'
import type { Ear } from './wires.ts'

const nothing = { interrupted: [], queued: [] }

export function memberCluster(shared: SharedState, ear: Ear): StoreCluster {
  const { instances, wires, content } = shared
  let self: InstanceRow | undefined

  function joined(): InstanceRow {
    if (self === undefined) throw new AppError('unavailable', 'This instance has not joined.')
    return self
  }

  return {
    async join(instance) {
      self = instances.join(instance)
      ear.owner = instance.owner
      return instances.peersOf(self)
    },
    async beat() {
      const own = joined()
      if (instances.isOver(own.owner)) return { lost: true, cancels: [], peers: [], orphaned: [] }
      own.beats++
      const orphaned = own.role === 'guest' ? [] : instances.ownersAmong(shared.busyOwners())
      return { lost: false, cancels: shared.cancelsOf(own.owner), peers: instances.peersOf(own), orphaned }
    },
    async declareDead(peer, beat) {
      const row = instances.get(peer)
      if (row === undefined || row.isDead || row.hasLeft || String(row.beats) !== beat) return false
      row.isDead = true
      return true
    },
    async takeOver(peer, at, limit) {
      const own = joined()
      if (instances.isOver(own.owner)) {
        throw new AppError('unavailable', 'This instance has left or was declared dead.')
      }
      const row = instances.get(peer)
      if (own.role === 'guest' || row === undefined || !(row.isDead || row.hasLeft)) return nothing
      return shared.takeOver(own.owner, at, (owner) => owner === row.owner, limit)
    },
    async leave() {
      const own = joined()
      own.hasLeft = true
      wires.wakeOthers(ear, { kind: 'left', key: own.key })
    },
    async requestCancel(runId, reason) {
      const row = content.runs.get(runId)
      if (row === undefined || isEnded(row.record.status)) return 'not_running'
      shared.cancels.set(runId, reason)
      wires.wake(row.owner, { kind: 'cancel', run_id: runId, reason })
      return 'asked'
    },
    onWake(listener) {
      ear.wake = listener
    },
    follow(runId) {
      const row = content.runs.get(runId)
      if (row === undefined || isEnded(row.record.status)) return
      ear.follows.add(runId)
      wires.wake(row.owner, { kind: 'followed', run_id: runId })
    },
    unfollow(runId) {
      if (!ear.follows.delete(runId) || wires.isFollowed(runId)) return
      wires.wake(content.runs.get(runId)?.owner, { kind: 'unfollowed', run_id: runId })
    },
    async watch(listener) {
      ear.change = listener
    },
    unwatch() {
      ear.change = undefined
    },
    get isWatched() {
      return wires.isWatchedBesides(ear)
    },
    publish(change) {
      wires.publish(ear, change)
    },
  }
}
