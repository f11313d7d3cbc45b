import type { Client } from '../../../client/client.ts'
import type { RunStatus } from '../../../core/run.ts'
import { UsageError } from '../../command/exit.ts'
import type { ConnectOptions } from '../../command/flags.ts'

/** The flags of all actions of `sessions`; each action lists its own. */
export interface SessionsOptions extends ConnectOptions {
  limit?: number
  all?: boolean
  agent?: string
  team?: string
  workflow?: string
  user?: string
  /** True with `--events`, false with `--no-events`. */
  events?: boolean
  why?: string
  replaced?: boolean
  olderThan?: string
  status?: RunStatus
  dryRun?: boolean
  yes?: boolean
  at?: string
  before?: string
  as?: string
  new?: boolean
  format?: 'jsonl' | 'markdown'
  output?: string
  overwrite?: boolean
  newIds?: boolean
  to?: string
  liveTools?: boolean
}

export interface SessionsCall {
  /** Connects while `work` runs. Usage errors are thrown before. */
  withClient<T>(work: (client: Client, url: string | undefined) => Promise<T>): Promise<T>
  args: readonly string[]
  options: SessionsOptions
  json: boolean
  signal: AbortSignal
}

/** Resolves with the exit code, default 0. */
export type SessionsAction = (call: SessionsCall) => Promise<number | undefined>

/** The id of the action's session. Throws UsageError unless there is exactly one. */
export function oneSession(action: string, args: readonly string[]): string {
  const [sessionId, more] = args
  if (sessionId === undefined) throw new UsageError(`sessions ${action} needs the id of a session.`)
  if (more !== undefined) throw new UsageError(`sessions ${action} takes one session.`)
  return sessionId
}
