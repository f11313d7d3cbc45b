import { expect, vi } from 'vitest'
import type { Instance, Peer, StoreCluster, Wake } from '../../../src/core/cluster/cluster.ts'
import type { RunStart, RunStarted } from '../../../src/core/run-write.ts'
import type { Recovered, SessionStore } from '../../../src/core/store.ts'
import { type StartFields, startOf } from '../session-store/builders.ts'

/** A store whose process is an instance. */
export interface Member {
  store: SessionStore
  cluster: StoreCluster
  owner: string
  /** What it has been told so far. */
  wakes: Wake[]
}

/** As many members as a test wants, named `a`, `b` and `c`. */
export type Members = <Count extends 2 | 3>(
  count: Count,
) => Promise<Count extends 2 ? [Member, Member] : [Member, Member, Member]>

const names = ['a', 'b', 'c']

export async function joinAll(stores: readonly SessionStore[]): Promise<Member[]> {
  const members: Member[] = []
  for (const [place, store] of stores.entries()) members.push(await join(store, names[place] ?? `${place}`))
  return members
}

export async function join(store: SessionStore, owner: string, role: Instance['role'] = 'server'): Promise<Member> {
  const cluster = clusterOf(store)
  await cluster.join(instanceOf(owner, role))
  const wakes: Wake[] = []
  cluster.onWake((wake) => wakes.push(wake))
  return { store, cluster, owner, wakes }
}

export function clusterOf({ cluster }: SessionStore): StoreCluster {
  if (cluster === undefined) throw new Error('This store has no cluster.')
  return cluster
}

export function instanceOf(owner: string, role: Instance['role'] = 'server'): Instance {
  return { owner, address: `http://${owner}`, version: '1', entities: ['echo'], role, deadAfterMs: 15_000 }
}

/** The start of a run of this member, which waits when it must. */
export function startBy({ owner }: Member, fields: StartFields = {}): RunStart {
  return { ...startOf({ ...fields, owner }), whenBusy: 'queue' }
}

/** Starts it and gives its ids with the outcome. */
export async function begin(member: Member, fields: StartFields = {}) {
  const start = startBy(member, fields)
  const started: RunStarted = await member.store.startRun(start)
  if (started.outcome !== 'started' && started.outcome !== 'queued') throw new Error(`not started: ${started.outcome}`)
  return { runId: start.run.run_id, sessionId: start.run.session_id, ...started }
}

/** How `one` sees the other. */
export async function peerOf(one: Member, other: Member): Promise<Peer> {
  const { peers } = await one.cluster.beat()
  const peer = peers.find(({ owner }) => owner === other.owner)
  if (peer === undefined) throw new Error(`${one.owner} does not see ${other.owner}.`)
  return peer
}

/** Declares it dead and gives its key. */
export async function kill(witness: Member, victim: Member): Promise<number> {
  const { key, beat } = await peerOf(witness, victim)
  expect(await witness.cluster.declareDead(key, beat)).toBe(true)
  return key
}

/** Takes all that it left, `limit` at a time. */
export async function takeAll(taker: Member, key: number, at: string, limit = 100): Promise<Recovered> {
  const all: Recovered = { interrupted: [], queued: [] }
  for (;;) {
    const { interrupted, queued } = await taker.cluster.takeOver(key, at, limit)
    if (interrupted.length + queued.length === 0) return all
    expect(interrupted.length + queued.length).toBeLessThanOrEqual(limit)
    all.interrupted.push(...interrupted)
    all.queued.push(...queued)
  }
}

export async function isTold({ wakes }: Member, wake: Wake): Promise<void> {
  await vi.waitFor(() => expect(wakes).toContainEqual(wake), { timeout: 20_000 })
}
