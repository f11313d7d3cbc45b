import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { measure } from './cell.ts'
import { startLoad } from './load-process.ts'
import { startMeasured } from './measured-process.ts'
import { bin, startArgs } from './start-up.ts'

export interface MemorySlope {
  runs: number
  errors: number
  firstError: string | undefined
  /** Resident, after each tenth of the runs. */
  megabytes: number[]
  /** Of the straight line through what came after the warm-up, the first three tenths. */
  megabytesPer100kRuns: number
}

const connections = 64
const warmUpSteps = 3
const steps = 10

/** Puts many runs through one server, in new sessions and in old ones, sent and streamed, and looks at what it holds on to. */
export async function memorySlope(runs: number): Promise<MemorySlope> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-memory-'))
  const load = startLoad()
  const server = await startMeasured(bin, startArgs(join(folder, 'data')))
  const kinds = [
    {
      ask: { dialect: 'agentserve', method: 'send', agentId: 'echo', text: 'Started a new session.' },
      sessions: undefined,
    },
    { ask: { dialect: 'agentserve', method: 'stream', agentId: 'fragments', text: '20' }, sessions: undefined },
    { ask: { dialect: 'agentserve', method: 'send', agentId: 'recall', text: 'An old one.' }, sessions: 'kept' },
  ] as const
  const requestsPerConnection = Math.ceil(runs / steps / kinds.length / connections)
  const slope: MemorySlope = { runs: 0, errors: 0, firstError: undefined, megabytes: [], megabytesPer100kRuns: 0 }
  const points: [runs: number, megabytes: number][] = []
  try {
    for (let step = 1; step <= steps; step++) {
      for (const { ask, sessions } of kinds) {
        const job = { connections, sessions, requestsPerConnection, warmUpMs: 0, measureMs: 0 }
        const { errors, firstError } = await measure(load, { name: 'agentserve', process: server, ask }, job)
        slope.runs += connections * requestsPerConnection
        slope.errors += errors
        slope.firstError ??= firstError
      }
      const megabytes = (await server.ask('look')).rssBytes / 2 ** 20
      slope.megabytes.push(Math.round(megabytes))
      if (step > warmUpSteps) points.push([slope.runs, megabytes])
    }
  } finally {
    await load.stop()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  slope.megabytesPer100kRuns = slopeOf(points) * 100_000
  return slope
}

/** Least squares. */
function slopeOf(points: readonly [number, number][]): number {
  const mean = (place: 0 | 1) => points.reduce((sum, point) => sum + point[place], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}
