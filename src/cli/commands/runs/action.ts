import type { Client } from '../../../client/client.ts'
import type { AgainAfter, AgainKeep, RunStatus, RunTextForm } from '../../../core/run.ts'
import { UsageError } from '../../command/exit.ts'
import type { ConnectOptions } from '../../command/flags.ts'

/** The flags of all actions of `runs`; each action lists its own. */
export interface RunsOptions extends ConnectOptions {
  session?: string
  agent?: string
  team?: string
  workflow?: string
  status?: RunStatus
  limit?: number
  cursor?: string
  reason?: string
  events?: boolean
  why?: boolean
  as?: RunTextForm
  approve?: boolean
  /** True without a reason. */
  deny?: string | true
  input?: string
  call?: string[]
  from?: number
  instructions?: string
  model?: string
  after?: AgainAfter
  times?: number
  keep?: AgainKeep
}

export interface RunsCall {
  client: Client
  /** Of the server, if it is a running one. */
  url: string | undefined
  /** Absent for `list`. */
  runId: string
  options: RunsOptions
  json: boolean
  signal: AbortSignal
}

/** Resolves with the exit code, default 0. */
export type RunsAction = (call: RunsCall) => Promise<number | undefined>

/** Throws UsageError unless the action has exactly the arguments and flags that it takes. */
export function checkCall(action: string, args: readonly string[], options: RunsOptions): void {
  const wanted = action === 'list' ? 0 : 1
  if (args.length < wanted)
    throw new UsageError(`runs ${action} needs the id of a run. agentserve runs list shows the ids.`)
  if (args.length > wanted) throw new UsageError(`runs ${action} takes ${wanted === 0 ? 'no id' : 'one run'}.`)
  for (const [name, of] of Object.entries(flags)) {
    if (options[name as keyof RunsOptions] !== undefined && !of.split(' or ').includes(action))
      throw new UsageError(`--${name} can only be used with ${of}.`)
  }
  const other = (['events', 'why', 'json'] as const).find((name) => options[name] === true)
  if (options.as !== undefined && other !== undefined)
    throw new UsageError(`--as and --${other} can't be combined. Use one of them.`)
}

const flags: Readonly<Record<string, string>> = {
  session: 'list',
  agent: 'list',
  team: 'list',
  workflow: 'list',
  status: 'list',
  limit: 'list',
  cursor: 'list',
  reason: 'cancel',
  events: 'show',
  why: 'show',
  as: 'show',
  approve: 'resume',
  deny: 'resume',
  input: 'resume or again',
  call: 'resume',
  from: 'again',
  instructions: 'again',
  model: 'again',
  after: 'again',
  times: 'again',
  keep: 'again',
}
