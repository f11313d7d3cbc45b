import { lastDataOf } from '../core/message.ts'
import type { EntityKind } from '../core/run.ts'
import type { Agent, AgentConfig, AgentList } from '../wire/agent.ts'
import type { RunAccepted, RunRequest, RunResult } from '../wire/run.ts'
import { type Attachment, toBody } from './attachments.ts'
import type { RunAnswer, RunStream } from './run-result.ts'
import type { RunStreams } from './run-stream.ts'
import type { StreamOptions } from './runs.ts'
import type { CallOptions, Connection, KeyedOptions } from './transport/connection.ts'
import { toMultipart } from './transport/multipart.ts'

/** The input of a run. The method decides how it is answered. */
export type RunInput = Omit<RunRequest, 'stream' | 'background'> & {
  /** Files for the run, after the parts of `input`: first those with a `url`, then those with bytes. */
  files?: readonly Attachment[] | undefined
}

export interface AgentsClient {
  list(kind?: EntityKind, options?: CallOptions): Promise<AgentList>
  /** Throws `agent_not_found` for an unknown id. With `include: 'config'` also how it is configured; only for operators. */
  get(agentId: string, options: CallOptions & { include: 'config' }): Promise<Agent & { config: AgentConfig }>
  get(agentId: string, options?: CallOptions): Promise<Agent>
  /**
   * Waits for the end. A failed run throws `run_failed`, `timeout` or `run_cancelled` with its `runId`. The run is cancelled
   * if the connection is lost, unless `on_disconnect` is `continue`: then the request is retried until the run has ended.
   */
  run(agentId: string, input: RunInput, options?: KeyedOptions): Promise<RunAnswer>
  /** Starts a run that does not depend on this client. Follow it with `runs.events`. */
  background(agentId: string, input: RunInput, options?: KeyedOptions): Promise<RunAccepted>
  /**
   * Streams the events to the final one. A lost connection reconnects and does not end the run. Leaving the loop or
   * aborting does, unless `on_disconnect` is `continue`. With `on_disconnect: 'cancel'`, a lost connection ends it too.
   */
  stream(agentId: string, input: RunInput, options?: StreamOptions & KeyedOptions): Promise<RunStream>
}

/** Without what waits for the answer. */
export interface PageAgentsClient extends Omit<AgentsClient, 'run' | 'stream' | 'background' | 'list'> {
  list(options?: CallOptions): Promise<AgentList>
  /** Files have the name and the type that the browser knows. */
  background(
    agentId: string,
    input: Omit<RunInput, 'files'> & { files?: readonly File[] | undefined },
    options?: KeyedOptions,
  ): Promise<RunAccepted>
}

export function createPageAgentsClient(connection: Connection, prefix: string): PageAgentsClient {
  const { path, of } = pathsOf(prefix)
  return {
    list: (options) => connection.get(path, options),
    get: (agentId: string, { include, ...options }: CallOptions & { include?: 'config' } = {}) =>
      connection.get<Agent & { config: AgentConfig }>(of(agentId), options, { include }),
    async background(agentId, { files = [], ...input }, options) {
      const path = `${of(agentId)}/run`
      const body = { ...input, background: true }
      if (files.length === 0) return connection.send(path, { ...options, body })
      const form = new FormData()
      form.set('request', JSON.stringify(body))
      for (const file of files) form.append('file', file)
      return connection.send(path, { ...options, raw: await toMultipart(form) })
    },
  }
}

export function createAgentsClient(connection: Connection, prefix: string, streams: RunStreams): AgentsClient {
  const { path, of } = pathsOf(prefix)
  return {
    ...createPageAgentsClient(connection, prefix),
    list: (kind, options) => connection.get(path, options, { kind }),
    async background(agentId, input, options) {
      return connection.send(`${of(agentId)}/run`, { ...options, ...(await toBody({ ...input, background: true })) })
    },
    async run(agentId, input, options) {
      const call = { ...options, long: true, ...(await toBody(input)) }
      return withData(await connection.send<RunResult>(`${of(agentId)}/run`, call))
    },
    stream: (agentId, input, options = {}) => streams.start(`${of(agentId)}/run/stream`, input, options),
  }
}

function pathsOf(prefix: string) {
  const path = `${prefix}/agents`
  return { path, of: (agentId: string) => `${path}/${encodeURIComponent(agentId)}` }
}

function withData(result: RunResult): RunAnswer {
  return { ...result, data: lastDataOf(result.messages.flatMap(({ role, parts }) => (role === 'user' ? [] : parts))) }
}
