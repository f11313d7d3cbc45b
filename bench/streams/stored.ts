import { Client } from 'pg'
import { measure } from '../postgres/measure.ts'
import { inPlace } from '../postgres/place.ts'
import { withShares } from '../postgres/shares.ts'

/** Sizes on the disk with all indexes; processor time in seconds. */
export interface Stored {
  runs: number
  bytesPerRun: number
  nodeMsPerRun: number
  postgresMsPerRun: number
  /** Of fragments, as text. */
  eventMegabytes: number
  /** What a gigabyte of it takes: on the disk, to record, and to read on another instance. */
  diskGigabytes: number
  write: { node: number; postgres: number }
  read: { node: number; postgres: number }
}

const callers = 32
const fragmentsEach = 5_000
const bytesEach = fragmentsEach * 1_000
const runsAtOnce = 2
const gigabyte = 1e9

/** Runs of one fragment in new sessions, and then runs of 5 MB. */
export function measureStored(build: string, measureMs: number, megabytes: number): Promise<Stored> {
  return inPlace(build, async (place) => {
    const [owner, other] = await place.onPostgres(2)
    if (owner === undefined || other === undefined) throw new Error('two servers were asked for')
    const { postgres, load } = place
    const size = () => sizeOf(postgres.url)
    const ask = { method: 'send', agentId: 'echo', text: '1' } as const
    const target = { servers: [owner], postgres }
    await measure(target, { load, ask, callers, warmUpMs: 0, measureMs })
    const before = await size()
    const short = await measure(target, { load, ask, callers, warmUpMs: 0, measureMs })
    const after = await size()
    const runs = after.runs - before.runs
    const count = Math.ceil((megabytes * 1e6) / bytesEach)
    const pair = { owner, other, postgres }
    const { value, seconds: written } = await used(pair, async () => {
      const ids: string[] = []
      for (let from = 0; from < count; from += runsAtOnce) {
        const some = Array.from({ length: Math.min(runsAtOnce, count - from) }, () => runLong(owner.url))
        ids.push(...(await Promise.all(some)))
      }
      return ids
    })
    const grown = (await size()).bytes - after.bytes
    const { value: readBytes, seconds: read } = await used(pair, async () => {
      let bytes = 0
      for (const id of value) bytes += await readAll(`${other.url}/api/v1/runs/${id}/events`)
      return bytes
    })
    if (readBytes < count * bytesEach) throw new Error('not all that was recorded came')
    const perGigabyte = (amount: number) => (amount * gigabyte) / (count * bytesEach)
    return {
      runs,
      bytesPerRun: (after.bytes - before.bytes) / runs,
      nodeMsPerRun: short.nodeMs,
      postgresMsPerRun: short.postgresMs,
      eventMegabytes: (count * bytesEach) / 1e6,
      diskGigabytes: perGigabyte(grown) / gigabyte,
      write: { node: perGigabyte(written.owner), postgres: perGigabyte(written.postgres) },
      read: { node: perGigabyte(read.other), postgres: perGigabyte(read.postgres) },
    }
  })
}

/** Processor time in seconds. */
async function used<T>(pair: Parameters<typeof withShares>[0], work: () => Promise<T>) {
  const fromMs = performance.now()
  const { value, shares } = await withShares(pair, work)
  const seconds = (performance.now() - fromMs) / 1000
  return {
    value,
    seconds: { owner: shares.owner * seconds, other: shares.other * seconds, postgres: shares.postgres * seconds },
  }
}

async function runLong(url: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/agents/prose/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ input: `${fragmentsEach}` }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`a long run failed: ${answer.status} ${text.slice(0, 300)}`)
  return (JSON.parse(text) as { run_id: string }).run_id
}

async function readAll(url: string): Promise<number> {
  const answer = await fetch(url)
  if (answer.status !== 200 || answer.body === null) throw new Error(`${url}: ${answer.status}`)
  let bytes = 0
  for await (const chunk of answer.body) bytes += chunk.byteLength
  return bytes
}

async function sizeOf(url: string): Promise<{ bytes: number; runs: number }> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: string; runs: string }>(
      `SELECT (SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r'
         AND c.relnamespace = 'agentserve'::regnamespace) AS bytes, (SELECT count(*) FROM agentserve.run) AS runs`,
    )
    return { bytes: Number(rows[0]?.bytes), runs: Number(rows[0]?.runs) }
  } finally {
    await client.end()
  }
}
