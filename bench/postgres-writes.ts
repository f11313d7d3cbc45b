/**
 * What the writes of runs cost with Postgres, without HTTP and agents: `node bench/postgres-writes.ts [seconds] [callers,…]
 * [gated,merged,streamed]`. A run is a new session, an input, 20 fragments, usage and an output. `gated`: the end follows
 * when the start is durable; `merged`: both come at once; `streamed`: start, events, end. Needs an idle machine: the load of
 * others is in the last column.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import type { SessionStore } from '../src/core/store.ts'
import { postgresStore } from '../src/store/sessions/postgres/store.ts'
import { endOf, messageOf, seedOf, startOf, textEvents } from '../test/contract/session-store/builders.ts'
import { startPostgres } from '../test/support/postgres/server.ts'
import { percentile } from './percentile.ts'

type Way = 'gated' | 'merged' | 'streamed'

const [seconds = 5, callers = '1,32,256', ways = 'gated,merged,streamed'] = process.argv.slice(2) as [
  number?,
  string?,
  string?,
]
const fragments = Array.from({ length: 20 }, (_, n) => `word ${n} `)
const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 }

async function run(store: SessionStore, way: Way): Promise<void> {
  const start = startOf({ session: seedOf({ agent_id: 'echo', user_id: 'ann' }), run: { user_id: 'ann' } })
  const { run_id: runId } = start.run
  const events = textEvents(runId, 2, fragments, start.run.created_at)
  const usage_by_model = [{ model: 'm', ...usage }]
  const end = endOf(runId, {
    end_seq: 22,
    usage,
    usage_by_model,
    messages: [messageOf(runId, 'assistant', fragments.join(''))],
  })
  if (way === 'merged') {
    await Promise.all([store.startRun(start), store.finishRun({ ...end, events })])
    return
  }
  await store.startRun(start)
  if (way === 'gated') await store.finishRun({ ...end, events })
  else {
    await store.appendEvents({ run_id: runId, fence: 1, events, reserve_until: 1021 })
    await store.finishRun(end)
  }
}

/** Of the processes of the server, in milliseconds; the machine's ticks are hundredths of seconds. */
function serverCpuMs(postmaster: number): number {
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      if (Number(fields[1]) === postmaster) ticks += Number(fields[11]) + Number(fields[12])
    } catch {
      // The process has ended.
    }
  }
  return ticks * 10
}

const server = await startPostgres({ durable: true, settings: { shared_buffers: '256MB', max_wal_size: '2GB' } })
const store = postgresStore({ url: server.url })
await store.open()
console.log('way       callers   runs/s   p50 ms   p99 ms   node ms/run   postgres ms/run   load')
for (const way of ways.split(',') as Way[]) {
  for (const count of callers.split(',').map(Number)) {
    const latencies: number[] = []
    let until = performance.now() + 1000
    const call = async (measured: boolean) => {
      while (performance.now() < until) {
        const from = performance.now()
        await run(store, way)
        if (measured) latencies.push(performance.now() - from)
      }
    }
    await Promise.all(Array.from({ length: count }, () => call(false)))
    const [begun, cpu, serverCpu] = [performance.now(), process.cpuUsage(), serverCpuMs(server.pid)]
    until = begun + seconds * 1000
    await Promise.all(Array.from({ length: count }, () => call(true)))
    const [ms, used] = [performance.now() - begun, process.cpuUsage(cpu)]
    const runs = latencies.length
    const cells = [
      way.padEnd(9),
      String(count).padStart(7),
      ((runs / ms) * 1000).toFixed(0).padStart(8),
      percentile(latencies, 0.5).toFixed(1).padStart(8),
      percentile(latencies, 0.99).toFixed(1).padStart(8),
      ((used.user + used.system) / 1000 / runs).toFixed(4).padStart(13),
      ((serverCpuMs(server.pid) - serverCpu) / runs).toFixed(4).padStart(17),
      (loadavg()[0] ?? 0).toFixed(1).padStart(6),
    ]
    console.log(cells.join(' '))
  }
}
await store.close()
await server.stop()
