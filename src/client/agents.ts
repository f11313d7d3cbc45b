import type { EntityKind } from '../core/run.ts'
import type { Agent, AgentList } from '../wire/agent.ts'
import type { RunAccepted, RunRequest, RunResult } from '../wire/run.ts'
import type { RunStream } from './run-result.ts'
import type { RunStreams } from './run-stream.ts'
import type { StreamOptions } from './runs.ts'
import type { CallOptions, Connection, KeyedOptions } from './transport/connection.ts'

/** What a run is asked for; how it is answered is the method's. */
export type RunInput = Omit<RunRequest, 'stream' | 'background'>

export interface AgentsClient {
  list(kind?: EntityKind, options?: CallOptions): Promise<AgentList>
  /** `agent_not_found` when there is none. */
  get(agentId: string, options?: CallOptions): Promise<Agent>
  /**
   * Waits for the end. A run that fails throws `run_failed`, `timeout` or `run_cancelled` with its `runId`. It is cancelled
   * with its connection, unless `on_disconnect` is `continue`: then a lost answer is asked for again until the run has ended.
   */
  run(agentId: string, input: RunInput, options?: KeyedOptions): Promise<RunResult>
  /** Goes on without us; follow it with `runs.events`. */
  background(agentId: string, input: RunInput, options?: KeyedOptions): Promise<RunAccepted>
  /**
   * The events as they happen, the final one last. A lost connection is taken up again and does not end the run; leaving the
   * loop or aborting does, unless `on_disconnect` is `continue`. With `on_disconnect: 'cancel'` a lost connection ends it too.
   */
  stream(agentId: string, input: RunInput, options?: StreamOptions & KeyedOptions): Promise<RunStream>
}

export function createAgentsClient(connection: Connection, prefix: string, streams: RunStreams): AgentsClient {
  const path = `${prefix}/agents`
  const of = (agentId: string) => `${path}/${encodeURIComponent(agentId)}`
  return {
    list: (kind, options) => connection.get(path, options, { kind }),
    get: (agentId, options) => connection.get(of(agentId), options),
    run: (agentId, input, options) => connection.post(`${of(agentId)}/run`, input, 'keyed', { ...options, long: true }),
    background: (agentId, input, options) =>
      connection.post(`${of(agentId)}/run`, { ...input, background: true }, 'keyed', options),
    stream: (agentId, input, options = {}) => streams.start(`${of(agentId)}/run/stream`, input, options),
  }
}
