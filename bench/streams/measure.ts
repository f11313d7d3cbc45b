import { setTimeout as sleep } from 'node:timers/promises'
import type { MeasuredProcess } from '../measured-process.ts'
import { inPlace, type Place } from '../postgres/place.ts'
import { type Shares, withShares } from '../postgres/shares.ts'
import { closeAll, openStreams, startWaiting } from './open.ts'

/** Of one count of runs. Memory in bytes, after a collection; processor time as a part of a core. */
export interface Open {
  streams: number
  /** The instance that has the runs: without runs, with them, and with a reader of each. */
  emptyBytes: number
  runsBytes: number
  streamsBytes: number
  /** The instance that has no runs: before and with a reader of each. */
  otherEmptyBytes: number
  tailsBytes: number
  atRest: Shares
  /** While each run is read on its own instance, and while each is read on the other one. */
  onOwn: Shares
  onOther: Shares
}

/** Quiet streams: nothing is sent but a heartbeat every 15 s. Each count has new servers and a new database. */
export function measureOpen(build: string, streams: number, watchMs: number): Promise<Open> {
  return inPlace(build, async (place) => {
    const { owner, other, pair } = await twoServers(place)
    const emptyBytes = await residentBytes(owner)
    const runIds = await startWaiting(owner.url, streams)
    await settle()
    const runsBytes = await residentBytes(owner)
    const watch = async () => (await withShares(pair, () => sleep(watchMs))).shares
    const atRest = await watch()
    const own = await openStreams(owner.url, runIds)
    await settle()
    const streamsBytes = await residentBytes(owner)
    const onOwn = await watch()
    await closeAll(own)
    await settle()
    const otherEmptyBytes = await residentBytes(other)
    const tails = await openStreams(other.url, runIds)
    await settle()
    const tailsBytes = await residentBytes(other)
    const onOther = await watch()
    await closeAll(tails)
    return { streams, emptyBytes, runsBytes, streamsBytes, otherEmptyBytes, tailsBytes, atRest, onOwn, onOther }
  })
}

async function twoServers(place: Place) {
  const [owner, other] = await place.onPostgres(2)
  if (owner === undefined || other === undefined) throw new Error('two servers were asked for')
  return { owner, other, pair: { owner, other, postgres: place.postgres } }
}

async function residentBytes(server: MeasuredProcess): Promise<number> {
  await server.ask('heap')
  return (await server.ask('look')).rssBytes
}

const settle = () => sleep(3_000)
