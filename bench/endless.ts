import { join } from 'node:path'
import { memoryStore } from '../src/store/sessions/memory/store.ts'
import { postgresStore } from '../src/store/sessions/postgres/store.ts'
import { sqliteStore } from '../src/store/sessions/sqlite/store.ts'
import { endlessEnds, playEndless } from '../test/support/hostile/endless.ts'
import { playHostileRuns } from '../test/support/hostile/runs.ts'
import { startPostgres } from '../test/support/postgres/server.ts'
import { temporaryFolder } from '../test/support/temporary-folder.ts'

/** After each case. */
const mostMs = 1_000
const mostMegabytes = 600

/** What types keep out, through every kind of runnable; another agent answers in time after each case. */
export async function hostileValues(runs: number): Promise<boolean> {
  if (runs === 0) return true
  await using folder = await temporaryFolder()
  await using postgres = await startPostgres()
  const stores = {
    memory: memoryStore(),
    sqlite: sqliteStore({ path: join(folder.path, 'sessions.db') }),
    postgres: postgresStore({ url: postgres.url }),
  }
  let ok = true
  for (const [name, store] of Object.entries(stores)) {
    try {
      const { slowestMs } = await playHostileRuns({ store, runs, mostMs })
      console.log(
        `${runs} runs with hostile values on ${name}: the slowest answer beside took ${Math.round(slowestMs)} ms`,
      )
    } catch (error) {
      ok = false
      console.log(`hostile values on ${name}: ${String(error)}`)
    }
  }
  return ok
}

/** Runs that never stop by themselves, each in a process of its own, against the limits as they are. */
export async function endlessRuns(rounds: number): Promise<boolean> {
  let ok = true
  for (let round = 1; round <= rounds; round++) {
    for (const [agent, end] of Object.entries(endlessEnds)) {
      const [run] = await playEndless('{}', [agent])
      const hasEnded = run?.said.includes(end) === true
      const isSmall = (run?.peakMegabytes ?? 0) < mostMegabytes
      ok &&= hasEnded && isSmall
      const ended = hasEnded ? `ended with ${end}` : `ended with: ${run?.said.slice(0, 300)}`
      console.log(
        `'${agent}' never stops, and ${ended}; ${run?.peakMegabytes ?? '?'} MB at most${isSmall ? '' : ', too much'}`,
      )
    }
  }
  return ok
}
