import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { measure, type Times } from '../cell.ts'
import type { Ask } from '../dialect.ts'
import { startLoad } from '../load-process.ts'
import { startMeasured } from '../measured-process.ts'
import { asStarted, binOf, startArgs } from '../start-up.ts'
import type { Benchmark, Figure } from './row.ts'

interface Load {
  name: string
  ask: Omit<Ask, 'dialect'>
  connections: number
  /** Messages that each connection's session has already. */
  before?: number
}

const loads: readonly Load[] = [
  ...[1, 32, 256].flatMap((connections): Load[] => [
    { name: `send × ${connections}`, ask: { method: 'send', agentId: 'echo', text: '1' }, connections },
    {
      name: `send, 20 fragments × ${connections}`,
      ask: { method: 'send', agentId: 'fragments', text: '20' },
      connections,
    },
    {
      name: `send, session of 100 messages × ${connections}`,
      ask: { method: 'send', agentId: 'recall', text: 'And now?' },
      connections,
      before: 100,
    },
    {
      name: `stream, 20 fragments × ${connections}`,
      ask: { method: 'stream', agentId: 'fragments', text: '20' },
      connections,
    },
  ]),
  { name: 'stream, 500 fragments', ask: { method: 'stream', agentId: 'fragments', text: '500' }, connections: 1 },
  { name: 'stream, 10,000 fragments', ask: { method: 'stream', agentId: 'fragments', text: '10000' }, connections: 1 },
]

/** The loads of the tables of `npm run bench`, on one server, and what memory it has then. */
export function loadBenchmark(times: Times): Benchmark {
  return {
    name: 'load',
    async measure(build) {
      const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
      const { flags, environment } = asStarted
      const server = await startMeasured(
        binOf(build),
        startArgs(join(folder, 'data'), 'start', build),
        flags,
        environment,
      )
      const load = startLoad()
      const figures: Figure[] = []
      try {
        for (const { name, ask, connections, before } of loads) {
          const target = { name, process: server, ask: { ...ask, dialect: 'agentserve' as const } }
          const sessions = before === undefined ? {} : { sessions: `before-${connections}` }
          if (before !== undefined) {
            const earlier = { ...target, ask: { ...target.ask, agentId: 'echo', text: 'An earlier message.' } }
            const fill = { warmUpMs: 0, measureMs: 0, requestsPerConnection: before / 2 }
            await measure(load, earlier, { ...fill, ...sessions, connections })
          }
          const cell = await measure(load, target, { ...times, ...sessions, connections })
          if (cell.errors > 0) throw new Error(`${build}, ${name}: ${cell.errors} wrong, ${cell.firstError}`)
          figures.push({ name: `${name}: CPU`, unit: 'ms', value: cell.cpuMsPerRequest })
          figures.push({ name: `${name}: p50`, unit: 'ms', value: cell.p50Ms })
        }
        figures.push({ name: 'memory: peak', unit: 'MB', value: (await server.peakRssBytes()) / 2 ** 20 })
        await sleep(2_000)
        figures.push({ name: 'memory: after', unit: 'MB', value: (await server.ask('look')).rssBytes / 2 ** 20 })
      } finally {
        await load.stop()
        await server.stop()
        await rm(folder, { recursive: true, force: true })
      }
      return figures
    },
  }
}
