import { setTimeout as sleep } from 'node:timers/promises'
import type { MeasuredProcess } from '../measured-process.ts'
import { inPlace, type Place } from '../postgres/place.ts'
import { type Shares, withShares } from '../postgres/shares.ts'
import { closeAll, openStreams, startWaiting } from './open.ts'

/** In bytes, after a collection. `held`: by objects of JavaScript. `resident`: of the process, also what it has freed and kept. */
export interface Memory {
  held: number
  resident: number
}

/** Of one count of runs. Processor time as a part of a core. */
export interface Open {
  streams: number
  /** The instance that has the runs: with them, and with a reader of each. */
  runs: Memory
  read: Memory
  /** The instance that has no runs, with a reader of each. */
  tails: Memory
  atRest: Shares
  /** While each run is read on its own instance, and while each is read on the other one. */
  onOwn: Shares
  onOther: Shares
}

/** Quiet streams: nothing is sent but a heartbeat every 15 s. Each count has new servers and a new database. */
export function measureOpen(build: string, streams: number, watchMs: number): Promise<Open> {
  return inPlace(build, async (place) => {
    const { owner, other, pair } = await twoServers(place)
    const runIds = await startWaiting(owner.url, streams)
    await settle()
    const runs = await memoryOf(owner)
    const watch = async () => (await withShares(pair, () => sleep(watchMs))).shares
    const atRest = await watch()
    const own = await openStreams(owner.url, runIds)
    await settle()
    const read = await memoryOf(owner)
    const onOwn = await watch()
    await closeAll(own)
    await settle()
    const readers = await openStreams(other.url, runIds)
    await settle()
    const tails = await memoryOf(other)
    const onOther = await watch()
    await closeAll(readers)
    return { streams, runs, read, tails, atRest, onOwn, onOther }
  })
}

async function twoServers(place: Place) {
  const [owner, other] = await place.onPostgres(2)
  if (owner === undefined || other === undefined) throw new Error('two servers were asked for')
  return { owner, other, pair: { owner, other, postgres: place.postgres } }
}

async function memoryOf(server: MeasuredProcess): Promise<Memory> {
  const { heapBytes: held } = await server.ask('heap')
  return { held, resident: (await server.ask('look')).rssBytes }
}

const settle = () => sleep(3_000)
