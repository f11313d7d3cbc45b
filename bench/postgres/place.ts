import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '../../test/support/postgres/server.ts'
import { type LoadProcess, startLoad } from '../load-process.ts'
import { type MeasuredProcess, startMeasured } from '../measured-process.ts'
import { binOf, startArgs } from '../start-up.ts'

/** A new Postgres whose commits reach the disk, servers on it and beside it, and a load. */
export interface Place {
  postgres: PostgresServer
  load: LoadProcess
  onPostgres(count: number): Promise<MeasuredProcess[]>
  onSqlite(): Promise<MeasuredProcess>
}

/** More than the tests give it; still little. */
const settings = { shared_buffers: '256MB', max_wal_size: '2GB' }

/** Ends everything that was started in it. */
export async function inPlace<T>(build: string, use: (place: Place) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
  const postgres = await startPostgres({ durable: true, settings })
  const load = startLoad()
  const servers: MeasuredProcess[] = []
  const start = async (args: string[], environment: Record<string, string> = {}) => {
    const server = await startMeasured(binOf(build), args, [], environment)
    servers.push(server)
    return server
  }
  const config = join(build, 'bench/postgres/agent.config.ts')
  const dataOf = (name: string) => join(folder, name)
  try {
    return await use({
      postgres,
      load,
      async onPostgres(count) {
        const started: MeasuredProcess[] = []
        for (let index = 0; index < count; index++)
          started.push(
            await start(startArgs(dataOf(`postgres-${index}`), 'start', build, config), {
              AGENTSERVE_DATABASE_URL: postgres.url,
            }),
          )
        return started
      },
      onSqlite: () => start(startArgs(dataOf('sqlite'), 'start', build)),
    })
  } finally {
    await load.stop()
    await Promise.all(servers.map((server) => server.stop()))
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
