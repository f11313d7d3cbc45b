import { measure } from './measure.ts'
import type { Place } from './place.ts'
import { runCells, runColumns, table } from './report.ts'
import { inTurns } from './rounds.ts'
import type { Part, Scale } from './scale.ts'

const callers = 192
const ask = { method: 'send', agentId: 'echo', text: '1' } as const

/** The same callers on one, two and three servers, all on this machine. */
export async function measureInstances(place: Place, { rounds, ...times }: Scale): Promise<Part> {
  const { load, postgres } = place
  const servers = await place.onPostgres(3)
  const on = (count: number, warmUpMs = times.warmUpMs) =>
    measure({ servers: servers.slice(0, count), postgres }, { load, ask, callers, ...times, warmUpMs })
  await on(servers.length, 0)
  const rows = await inTurns(rounds, { 1: () => on(1), 2: () => on(2), 3: () => on(3) })
  const cells = table(
    ['Instances', ...runColumns],
    Object.entries(rows).map(([count, row]) => [count, ...runCells(row)]),
  )
  return { text: `### Instances on one database, ${callers} callers together\n\n${cells}`, goals: [] }
}
