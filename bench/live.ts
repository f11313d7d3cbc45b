import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Estimate, estimateMedian } from './against/interval.ts'
import { type Cell, measure } from './cell.ts'
import { type LoadProcess, startLoad } from './load-process.ts'
import { type MeasuredProcess, startMeasured } from './measured-process.ts'
import { binOf, startArgs, thisBuild } from './start-up.ts'

/* What one reader of `GET /live` costs the runs: two servers of the same build in turns, the reader on one of them, or gone from it. */

const pairsPerRound = 5
const connections = 32
const ask = { dialect: 'agentserve', method: 'send', agentId: 'echo', text: '1' } as const

export interface LiveComparison {
  /** How often each server is measured. */
  pairs: number
  measureMs: number
  build?: string
  /** Of the second server: it reads, or has left so long ago that the server has forgotten it. */
  reader?: 'reads' | 'has left'
}

/** A server notes changes for that time after its last reader has left. */
const lingerMs = 30_000

interface Pair {
  without: Cell
  reading: Cell
  frames: number
  resets: number
}

/** With / without: of the runs per second. */
export async function compareReader(comparison: LiveComparison): Promise<Estimate> {
  const pairs = await measurePairs(comparison)
  return estimateMedian(pairs.map(({ reading, without }) => reading.perSecond / without.perSecond))
}

async function measurePairs({
  pairs,
  measureMs,
  build = thisBuild,
  reader = 'reads',
}: LiveComparison): Promise<Pair[]> {
  const all: Pair[] = []
  const load = startLoad()
  try {
    while (all.length < pairs) {
      console.error(`pair ${all.length + 1} of ${pairs}: a reader of /live that ${reader}`)
      const some = Math.min(pairsPerRound, pairs - all.length)
      await measureRound({ load, build, pairs: some, measureMs, reader }, (pair) => all.push(pair))
    }
  } finally {
    await load.stop()
  }
  return all
}

/** A Markdown table of the runs per second and the processor time of a run, and the ratio with / without a reader. */
export async function measureLive(comparison: LiveComparison): Promise<string> {
  const { measureMs } = comparison
  const all = await measurePairs(comparison)
  const row = (name: string, value: (cell: Cell) => number, unit: string) => {
    const [without, reading] = [all.map((pair) => value(pair.without)), all.map((pair) => value(pair.reading))]
    const ratio = estimateMedian(reading.map((one, index) => one / (without[index] ?? Number.NaN)))
    const middle = [without, reading].map((values) => `${estimateMedian(values).median.toPrecision(4)} ${unit}`)
    return `| ${[name, ...middle, ratio.median.toFixed(3), `${ratio.low.toFixed(3)} – ${ratio.high.toFixed(3)}`].join(' | ')} |`
  }
  const seconds = (measureMs / 1000) * all.length
  const perSecond = (name: 'frames' | 'resets') => (all.reduce((sum, pair) => sum + pair[name], 0) / seconds).toFixed(1)
  return [
    `${all.length} pairs of ${measureMs} ms, load average ${loadavg()[0]?.toFixed(1)}; the reader got ${perSecond('frames')} frames a second, ` +
      `${perSecond('resets')} of them \`reset\`.`,
    '',
    `| send × ${connections} | no reader | one reader of /live | with / without | 95 % interval |`,
    '|---|---|---|---|---|',
    row('CPU of a run', (cell) => cell.cpuMsPerRequest, 'ms'),
    row('runs', (cell) => cell.perSecond, '/s'),
  ].join('\n')
}

/** With new processes, so that what two of them differ in by chance is not taken for the reader. */
async function measureRound(
  { load, build, pairs, measureMs, reader: does }: Required<LiveComparison> & { load: LoadProcess },
  keep: (pair: Pair) => void,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const start = (name: string) => startMeasured(binOf(build), startArgs(join(folder, name), 'start', build))
  const servers: MeasuredProcess[] = []
  let reader: Reader | undefined
  try {
    const [quiet, read] = [await start('quiet'), await start('read')]
    servers.push(quiet, read)
    reader = await openReader(read.url)
    if (does === 'has left') {
      reader.close()
      await sleep(lingerMs + 1_000)
    }
    const cellOf = async (process: MeasuredProcess, warmUpMs: number) => {
      const cell = await measure(load, { name: 'live', process, ask }, { connections, warmUpMs, measureMs })
      if (cell.errors > 0) throw new Error(`${cell.errors} wrong, ${cell.firstError}`)
      return cell
    }
    for (const server of servers) await cellOf(server, 2_000)
    for (let pair = 0; pair < pairs; pair++) {
      const cells = new Map<MeasuredProcess, Cell>()
      const { counts } = reader
      const before = { ...counts }
      for (const server of pair % 2 === 0 ? [quiet, read] : [read, quiet]) cells.set(server, await cellOf(server, 200))
      keep({
        without: cells.get(quiet) as Cell,
        reading: cells.get(read) as Cell,
        frames: counts.frames - before.frames,
        resets: counts.resets - before.resets,
      })
    }
  } finally {
    reader?.close()
    for (const server of servers) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Reader {
  counts: { frames: number; resets: number }
  close(): void
}

function openReader(url: string): Promise<Reader> {
  return new Promise((resolve, reject) => {
    const counts = { frames: 0, resets: 0 }
    const request = get(new URL('/api/v1/live', url), (response: IncomingMessage) => {
      if (response.statusCode !== 200) return reject(new Error(`/live answers ${response.statusCode}`))
      response.setEncoding('latin1').on('data', (text: string) => {
        counts.frames += text.split('\n\n').length - 1
        counts.resets += text.split('event: reset').length - 1
      })
      resolve({ counts, close: () => request.destroy() })
    })
    request.on('error', reject)
  })
}
