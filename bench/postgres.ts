import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { commitDelayP99Ms } from './commit-delay.ts'
import { measureInstances } from './postgres/instances.ts'
import { inPlace, type Place } from './postgres/place.ts'
import { goalTable, two } from './postgres/report.ts'
import type { Part, Scale } from './postgres/scale.ts'
import { measureHistory, measureSends } from './postgres/sends.ts'
import { measureTails } from './postgres/tails.ts'
import { thisBuild } from './start-up.ts'

/* What runs cost on Postgres, beside SQLite in the same run: whole servers, Postgres and the load on the same cores. */

const parts: Record<string, (place: Place, scale: Scale) => Promise<Part>> = {
  send: measureSends,
  history: measureHistory,
  instances: measureInstances,
  tails: measureTails,
}

export interface PostgresComparison {
  quick: boolean
  /** One of `parts`; default: all. */
  part?: string | undefined
  build?: string
}

/** Tables of Markdown. Each part has a Postgres and servers of its own. */
export async function measurePostgres({ quick, part, build = thisBuild }: PostgresComparison): Promise<string> {
  const scale = quick
    ? { warmUpMs: 300, measureMs: 1_000, rounds: 1 }
    : { warmUpMs: 1_000, measureMs: 3_000, rounds: 5 }
  const chosen = Object.entries(parts).filter(([name]) => part === undefined || part === name)
  if (chosen.length === 0) throw new Error(`--only postgres:${part}: the parts are ${Object.keys(parts).join(', ')}`)
  const [load = 0] = loadavg()
  const measured: Part[] = []
  for (const [name, measure] of chosen) {
    console.error(`postgres: ${name}`)
    measured.push(await inPlace(build, (place) => measure(place, scale)))
  }
  const goals = measured.flatMap((one) => one.goals)
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, ` +
      `the load of the machine was ${load.toFixed(1)} before; medians of ${scale.rounds} × ${scale.measureMs / 1000} s, in turns; the smallest durable write takes ${two(await smallestWriteMs())} ms (p99).`,
    ...measured.map(({ text }) => text),
    ...(goals.length === 0 ? [] : ['### Goals', goalTable(goals)]),
  ].join('\n\n')
}

async function smallestWriteMs(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  try {
    return commitDelayP99Ms(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
