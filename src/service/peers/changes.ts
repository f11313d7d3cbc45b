import type { StoreChange, StoreCluster } from '../../core/cluster/cluster.ts'
import type { Recovered } from '../../core/store.ts'
import type { ChangeListener, Going, ListsChanged } from '../live/changes.ts'

/** Tells the other instances, and this listener if there is one. */
export function toPeers(cluster: Pick<StoreCluster, 'publish'>, listener?: ChangeListener): ChangeListener {
  const tell = (change: StoreChange) => {
    cluster.publish(change)
    if (listener !== undefined) fromPeer(listener, change)
  }
  return {
    run: (id, going) => tell({ kind: 'run', id, ...(going !== undefined && { going }) }),
    session: (id) => tell({ kind: 'session', id }),
    runs: (id) => tell({ kind: 'runs', id }),
    turns: (id) => tell({ kind: 'turns', id }),
    deleted: (id, users) => tell({ kind: 'deleted', id, users }),
    lists: (id, users) => tell(id === 'missed' ? { kind: 'missed' } : { kind: 'lists', id, users }),
  }
}

const plain: ReadonlySet<string> = new Set(['session', 'runs', 'turns'])
const listChanges: ReadonlySet<string> = new Set<ListsChanged>(['pruned', 'erased', 'shared'])

/** Tells a listener what an instance has changed. What this version does not understand may be anything. */
export function fromPeer(listener: ChangeListener, change: StoreChange): void {
  if (change.kind === 'missed' || typeof change.id !== 'string') listener.lists('missed')
  else if (change.kind === 'run') listener.run(change.id, goingOf(change.going))
  else if (change.kind === 'deleted') listener.deleted(change.id, change.users)
  else if (change.kind === 'lists' && listChanges.has(change.id)) listener.lists(change.id, change.users)
  else if (change.kind !== 'lists' && plain.has(change.kind)) listener[change.kind](change.id)
  else listener.lists('missed')
}

/** Anybody may notify a channel, and instances of earlier versions say nothing of it. */
function goingOf(going: unknown): Going | undefined {
  if (typeof going !== 'object' || going === null) return undefined
  return 'session_id' in going && typeof going.session_id === 'string' ? { session_id: going.session_id } : {}
}

/** The same cluster; `onEnded` is told of the runs that a takeover has ended. */
export function watchTakeovers(cluster: StoreCluster, onEnded: (interrupted: Recovered['interrupted']) => void) {
  const takeOver: StoreCluster['takeOver'] = async (...given) => {
    const taken = await cluster.takeOver(...given)
    onEnded(taken.interrupted)
    return taken
  }
  return new Proxy(cluster, {
    get(target, name) {
      if (name === 'takeOver') return takeOver
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
