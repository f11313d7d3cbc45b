import type { StoreCluster } from '../../src/core/cluster/cluster.ts'
import { AppError } from '../../src/core/error.ts'
import type { SessionStore } from '../../src/core/store.ts'
import type { Clock } from '../../src/core/time.ts'
import { emptyState } from '../../src/store/sessions/memory/rows.ts'
import { memberCluster } from './memory-cluster/member-cluster.ts'
import { memberStore } from './memory-cluster/member-store.ts'
import { SharedState } from './memory-cluster/shared-state.ts'

/** One store of a cluster in memory, and what may happen to its connections. */
export interface MemoryMember {
  store: SessionStore
  /** From now on every call is refused as `unavailable`, and no wake-up arrives. */
  cut(): void
  /** Ends a cut. Wake-ups may have been lost, so it is told `missed`. */
  heal(): void
  /** Wake-ups and changes are lost from now on, as when only the connection that listens is cut. */
  deafen(): void
  /** Ends the deafness. `missed`: tells that something may have been lost. */
  hear(missed: boolean): void
}

/** Stores of several processes with one content in this process. */
export function memoryCluster({ clock = Date.now }: { clock?: Clock } = {}): { add(): MemoryMember } {
  const shared = new SharedState(emptyState(clock))
  return { add: () => createMember(shared) }
}

function createMember(shared: SharedState): MemoryMember {
  const ear = shared.wires.add()
  let isCut = false
  let isClosed = false
  const assertReachable = () => {
    if (isClosed) throw new AppError('unavailable', 'The session store is closed.')
    if (isCut) throw new AppError('unavailable', 'The database can not be reached.')
  }
  const inner = memberStore(shared, () => ear.owner)
  const store: SessionStore = {
    ...guarded(inner, assertReachable),
    name: 'memory cluster',
    async open() {
      isClosed = false
      await inner.open()
    },
    async close() {
      isClosed = true
      await inner.close()
    },
    cluster: guarded(memberCluster(shared, ear), assertReachable),
  }
  const hear = (missed: boolean) => {
    ear.isDeaf = false
    if (missed) shared.wires.miss(ear)
  }
  return {
    store,
    cut() {
      isCut = true
      ear.isDeaf = true
    },
    heal() {
      isCut = false
      hear(true)
    },
    deafen() {
      ear.isDeaf = true
    },
    hear,
  }
}

/** What returns no promise in the port: it never fails. */
const hints: ReadonlySet<string> = new Set<keyof StoreCluster>(['onWake', 'follow', 'unfollow', 'unwatch', 'publish'])

/** The same methods, which fail as `assertReachable` does. */
function guarded<T extends object>(methods: T, assertReachable: () => void): T {
  return new Proxy(methods, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function' || hints.has(String(name))) return method
      return async (...given: unknown[]) => {
        assertReachable()
        return method.apply(target, given)
      }
    },
  })
}
