import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../percentile.ts'
import type { Place } from './place.ts'
import { type Reader, readRun, startStamped } from './reader.ts'
import { type Goal, othersCell, table } from './report.ts'
import { mostForeign } from './rounds.ts'
import type { Part, Scale } from './scale.ts'
import { type Pair, type Shares, withShares } from './shares.ts'

const tailCount = 100
const pauseMs = 50
/** As a model's; several share a batch of the record. */
const closePauseMs = 13
/** Each is a batch of its own. */
const farPauseMs = 83
/** What was just started runs code that is not compiled yet. */
const leastWarmMs = 2_000

/** Runs of one server, read on another. */
export async function measureTails(place: Place, { rounds, measureMs }: Scale): Promise<Part> {
  const [owner, other] = await place.onPostgres(2)
  if (owner === undefined || other === undefined) throw new Error('two servers were asked for')
  const pair = { owner, other, postgres: place.postgres }
  const ms = measureMs * rounds
  await followOne(pair, 1_000, closePauseMs)
  const close = await withShares(pair, () => followOne(pair, ms, closePauseMs))
  const far = await withShares(pair, () => followOne(pair, ms, farPauseMs))
  const idle = await withShares(pair, () => sleep(ms))
  const warmMs = Math.max(leastWarmMs, ms / 3)
  const readers = await followMany(pair, ms + 2 * warmMs)
  await sleep(warmMs)
  for (const reader of readers) reader.latenciesMs.length = 0
  const many = await withShares(pair, async () => {
    await sleep(ms)
    return readers.flatMap(({ latenciesMs }) => latenciesMs)
  })
  await Promise.all(readers.map(({ ended }) => ended))
  const latencies = table(
    ['Fragments', 'read', 'p50 ms', 'p99 ms', 'fragments', 'others'],
    [
      latencyRow(`one run, ${closePauseMs} ms apart`, 'on its instance', close.value.local, close.shares),
      latencyRow(`one run, ${closePauseMs} ms apart`, 'on another', close.value.remote, close.shares),
      latencyRow(`one run, ${farPauseMs} ms apart`, 'on another', far.value.remote, far.shares),
      latencyRow(`${tailCount} runs, ${pauseMs} ms apart`, 'on another', many.value, many.shares),
    ],
  )
  const shares = table(
    ['Of a core', 'the instance that runs', 'the instance that reads', 'Postgres', 'others'],
    [shareRow('no runs', idle.shares), shareRow(`${tailCount} runs, ${pauseMs} ms apart`, many.shares)],
  )
  return {
    text: `### Streams of one instance, read on another\n\n${latencies}\n\n${shares}`,
    goals: goalsOf(percentile(close.value.remote, 0.5), many.shares.other),
  }
}

async function followOne({ owner, other }: Pair, ms: number, apartMs: number) {
  const runId = await startStamped(owner.url, Math.ceil(ms / apartMs), apartMs)
  const [local, remote] = [readRun(owner.url, runId), readRun(other.url, runId)]
  await Promise.all([local.ended, remote.ended])
  return { local: local.latenciesMs, remote: remote.latenciesMs }
}

async function followMany({ owner, other }: Pair, ms: number): Promise<Reader[]> {
  const starts = Array.from({ length: tailCount }, () => startStamped(owner.url, Math.ceil(ms / pauseMs), pauseMs))
  return (await Promise.all(starts)).map((runId) => readRun(other.url, runId))
}

const others = ({ foreign }: Shares) => othersCell({ foreign, isDisturbed: foreign > mostForeign })
const percent = (share: number) => `${(share * 100).toFixed(1)} %`

function latencyRow(fragments: string, read: string, values: readonly number[], shares: Shares): string[] {
  const [half, most] = [percentile(values, 0.5), percentile(values, 0.99)]
  return [fragments, read, `${half}`, `${most}`, `${values.length}`, others(shares)]
}

function shareRow(name: string, shares: Shares): string[] {
  return [name, percent(shares.owner), percent(shares.other), percent(shares.postgres), others(shares)]
}

function goalsOf(p50Ms: number, share: number): Goal[] {
  return [
    { goal: 'a fragment on another instance: p50 ≤ 40 ms', measured: `${p50Ms} ms`, holds: p50Ms <= 40 },
    {
      goal: `${tailCount} streams of another instance ≤ 10 % of a core`,
      measured: percent(share),
      holds: share <= 0.1,
    },
  ]
}
