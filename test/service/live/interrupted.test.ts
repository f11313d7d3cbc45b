import { expect, it } from 'vitest'
import type { StoreChange, StoreCluster } from '../../../src/core/cluster/cluster.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { type ChangeListener, watchStore } from '../../../src/service/live/changes.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'

const left = (run_id: string) => ({ interrupted: [{ run_id }], queued: [] })

it('tells of the runs that a restart and a takeover have ended, while nothing else listens', async () => {
  const inner: SessionStore = {
    ...memoryStore(),
    recover: async () => left('run_before') as never,
    cluster: { takeOver: async () => left('run_elsewhere'), publish: () => {} } as unknown as StoreCluster,
  }
  const told: string[] = []
  const { store } = watchStore(inner, (runs) => void told.push(...runs.map(({ run_id }) => run_id)))
  expect((await store.recover('own_1', '')).interrupted).toHaveLength(1)
  await store.cluster?.takeOver(7, '', 100)
  expect(told).toEqual(['run_before', 'run_elsewhere'])
})

it('says to all after a takeover that the dead may have changed more than they told', async () => {
  const published: StoreChange[] = []
  const cluster: Partial<StoreCluster> = {
    takeOver: async () => ({ interrupted: [], queued: [] }),
    publish: (change) => void published.push(change),
    watch: async () => {},
    isWatched: true,
  }
  const { store, changes } = watchStore({ ...memoryStore(), cluster: cluster as StoreCluster })
  const lists: string[] = []
  await changes.listen({ lists: (reason: string) => void lists.push(reason) } as unknown as ChangeListener)
  await store.cluster?.takeOver(7, '', 100)
  expect(lists).toEqual(['missed'])
  expect(published).toEqual([{ kind: 'missed' }])
})
