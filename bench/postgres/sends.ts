import { type Load, measure, type Target } from './measure.ts'
import type { Place } from './place.ts'
import { type Goal, runCells, runColumns, table, two, whole } from './report.ts'
import { inTurns, type Row } from './rounds.ts'
import type { Part, Scale } from './scale.ts'

const callerCounts = [1, 32, 256]
const echo = { method: 'send', agentId: 'echo', text: '1' } as const

/** Runs of new sessions. */
export async function measureSends(place: Place, { rounds, ...times }: Scale): Promise<Part> {
  const targets = await beside(place)
  const on = (target: Target, callers: number, more: Partial<Load> = {}) =>
    measure(target, { load: place.load, ask: echo, callers, ...times, ...more })
  for (const target of Object.values(targets)) await on(target, 32, { warmUpMs: 0 })
  const rows = new Map<number, { sqlite: Row; postgres: Row }>()
  for (const callers of callerCounts)
    rows.set(
      callers,
      await inTurns(rounds, {
        sqlite: () => on(targets.sqlite, callers),
        postgres: () => on(targets.postgres, callers),
      }),
    )
  const title = '### `sendMessage`, a new session each'
  return { text: `${title}\n\n${besideTable(rows)}`, goals: goalsOf(rows) }
}

/** Each caller goes on with the session of its own that has 20 turns, and the agent reads the latest 10. */
export async function measureHistory(place: Place, { rounds, ...times }: Scale): Promise<Part> {
  const turnsBefore = 20
  const callers = 32
  const { load } = place
  const { sqlite, postgres: both } = await beside(place, 2)
  const postgres = { ...both, servers: both.servers.slice(0, 1) }
  let fills = 0
  const recall = { method: 'send', agentId: 'recall', text: 'And now?' } as const
  const on = async (target: Target) => {
    const sessions = `turns-${++fills}`
    const [url = '', ...others] = target.servers.map((server) => server.url)
    const filled = await load.run({
      ...{ url, others, sessions, connections: callers, warmUpMs: 0, measureMs: 0 },
      ask: { ...echo, dialect: 'agentserve', text: 'An earlier message of this session.' },
      requestsPerConnection: turnsBefore,
    })
    if (filled.errors > 0) throw new Error(`the sessions could not be filled: ${filled.firstError}`)
    return measure(target, { load, ask: recall, callers, sessions, ...times })
  }
  const rows = await inTurns(rounds, { sqlite: () => on(sqlite), postgres: () => on(postgres), both: () => on(both) })
  const named = [
    ['SQLite', rows.sqlite],
    ['Postgres, 1 instance', rows.postgres],
    ['Postgres, 2 instances in turns', rows.both],
  ] as const
  const cells = table(
    ['Store', ...runColumns],
    named.map(([name, row]) => [name, ...runCells(row)]),
  )
  return { text: `### \`sendMessage\` in sessions of ${turnsBefore} turns, ${callers} callers\n\n${cells}`, goals: [] }
}

async function beside(place: Place, instances = 1): Promise<{ sqlite: Target; postgres: Target }> {
  return {
    sqlite: { servers: [await place.onSqlite()] },
    postgres: { servers: await place.onPostgres(instances), postgres: place.postgres },
  }
}

function besideTable(rows: ReadonlyMap<number, { sqlite: Row; postgres: Row }>): string {
  const cells = [...rows].flatMap(([callers, { sqlite, postgres }]) => [
    [`${callers}`, 'SQLite', ...runCells(sqlite), '1.00 ×'],
    [`${callers}`, 'Postgres', ...runCells(postgres), `${two(postgres.nodeMs / sqlite.nodeMs)} ×`],
  ])
  return table(['Callers', 'Store', ...runColumns, "node's CPU"], cells)
}

function goalsOf(rows: ReadonlyMap<number, { sqlite: Row; postgres: Row }>): Goal[] {
  const atLeast = (callers: number, goal: number): Goal => {
    const { perSecond } = rows.get(callers)?.postgres ?? { perSecond: Number.NaN }
    return {
      goal: `≥ ${whole(goal)} runs/s at ${callers} callers`,
      measured: whole(perSecond),
      holds: perSecond >= goal,
    }
  }
  const alone = rows.get(1)?.postgres.p50Ms ?? Number.NaN
  const added = [...rows].map(([callers, { sqlite, postgres }]): Goal => {
    const ms = postgres.nodeMs - sqlite.nodeMs
    const measured = `${ms < 0 ? '−' : '+'}${Math.abs(ms).toFixed(4)} ms`
    return { goal: `node's CPU a run not above SQLite's at ${callers}`, measured, holds: ms <= 0 }
  })
  return [
    atLeast(256, 4_500),
    atLeast(32, 3_500),
    { goal: 'p50 ≤ 2 ms at 1 caller', measured: `${two(alone)} ms`, holds: alone <= 2 },
    ...added,
  ]
}
