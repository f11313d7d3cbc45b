import type { PostgresServer } from '../../test/support/postgres/server.ts'
import type { MeasuredProcess } from '../measured-process.ts'
import { foreignShare, machineMs, postgresMs, processMs } from './processor.ts'

export interface Pair {
  /** Has the runs. */
  owner: MeasuredProcess
  other: MeasuredProcess
  postgres: PostgresServer
}

/** Of a core; `foreign`: what others had of the machine. */
export interface Shares {
  owner: number
  other: number
  postgres: number
  foreign: number
}

/** What each uses while this runs. */
export async function withShares<T>(
  { owner, other, postgres }: Pair,
  work: () => Promise<T>,
): Promise<{ value: T; shares: Shares }> {
  const look = () => ({
    owner: processMs(owner.pid),
    other: processMs(other.pid),
    postgres: postgresMs(postgres.pid),
    self: processMs(process.pid),
    machine: machineMs(),
    at: performance.now(),
  })
  const before = look()
  const value = await work()
  const after = look()
  const used = (name: keyof typeof before) => after[name] - before[name]
  const own = used('owner') + used('other') + used('postgres') + used('self')
  return {
    value,
    shares: {
      owner: used('owner') / used('at'),
      other: used('other') / used('at'),
      postgres: used('postgres') / used('at'),
      foreign: foreignShare({ machine: used('machine'), own, seconds: used('at') / 1000 }),
    },
  }
}
