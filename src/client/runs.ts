import type { RunStatus, RunTextForm } from '../core/run.ts'
import type { AgainRequest, AgainStarted, KeepRequest, RunKept } from '../wire/again.ts'
import type { ResumeRequest, RunDetail, RunList } from '../wire/run.ts'
import type { RunTrace } from '../wire/run-trace.ts'
import type { RunStream } from './run-result.ts'
import type { CallOptions, Connection, PageOptions } from './transport/connection.ts'

export interface StreamOptions extends CallOptions {
  /** Maximum number of reconnects in a row after the stream was cut. Default: 5. */
  reconnects?: number | undefined
  /** Include the exact prompts of model calls. */
  includePrompts?: boolean | undefined
}

export interface RunsClient {
  /** Live or recorded. */
  get(runId: string, options?: CallOptions): Promise<RunDetail>
  /** Newest first. */
  list(
    filter?: {
      status?: RunStatus | undefined
      agent_id?: string | undefined
      session_id?: string | undefined
      parent_run_id?: string | undefined
      /** Include runs that only try another one again. */
      again?: boolean | undefined
    },
    options?: PageOptions,
  ): Promise<RunList>
  /** Throws `conflict` if the run has ended. */
  cancel(runId: string, reason?: string, options?: CallOptions): Promise<RunDetail>
  /** Makes a replaced run part of the conversation again. Throws `conflict` if it is, or if a run of the session is active. */
  restore(runId: string, options?: CallOptions): Promise<RunDetail>
  /**
   * Runs a run again, from its beginning or from one of its events, with edits. Returns once the new runs are under way. Only for
   * operators; outside `dev` the server's `server.studio.again` allows it.
   */
  again(runId: string, request?: AgainRequest, options?: CallOptions): Promise<AgainStarted>
  /**
   * Makes an ended try a turn, without running anything: the last one of a new session (`fork`), or in place of the turn that it
   * tried again (`replace`). Throws `conflict` when it has not ended, is no try, or its place is another's.
   */
  keep(runId: string, keep: KeepRequest['keep'], options?: CallOptions): Promise<RunKept>
  /**
   * Resumes a paused run and waits for its end or its next pause. With `background`, or if the run was started in the
   * background, it returns once the run continues. Throws `conflict` if
   * the run is not paused and this answer is not the one that resumed it.
   */
  resume(runId: string, answer?: Omit<ResumeRequest, 'stream'>, options?: CallOptions): Promise<RunDetail>
  /** Streams the events, live or recorded, from the start or after a number. Leaving the loop has no effect on the run. */
  events(runId: string, options?: StreamOptions & { after?: number | undefined }): Promise<RunStream>
  /** The recorded prompt and answer of each model call. A page has at most `limit` calls. With the `call_id` of a `call`, only that one. */
  trace(runId: string, options?: PageOptions & { call?: string | undefined }): Promise<RunTrace>
  /**
   * The run as text: as Markdown for a model (the default), with prompts if the key may see them; or as what asks the same once more, as
   * a command for curl, TypeScript with this client, or a component with `useChat`. The key is in none of them.
   */
  text(runId: string, options?: CallOptions & { as?: RunTextForm | undefined }): Promise<string>
}

/** The same, with `follow` for the events. */
export type RunsClientOver<EVENTS> = Omit<RunsClient, 'events'> & {
  events(runId: string, options?: StreamOptions & { after?: number | undefined }): Promise<EVENTS>
}

export function createRunsClient<EVENTS>(
  connection: Connection,
  prefix: string,
  follow: (runId: string, after: number, options: StreamOptions) => Promise<EVENTS>,
): RunsClientOver<EVENTS> {
  const runPath = (runId: string) => `${prefix}/runs/${encodeURIComponent(runId)}`
  return {
    get: (runId, options) => connection.get(runPath(runId), options),
    list: (filter, options) => connection.list(`${prefix}/runs`, filter, options),
    cancel: (runId, reason, options) => connection.post(`${runPath(runId)}/cancel`, { reason }, 'never', options),
    restore: (runId, options) => connection.post(`${runPath(runId)}/restore`, {}, 'never', options),
    again: (runId, request = {}, options) => connection.post(`${runPath(runId)}/again`, request, 'keyed', options),
    keep: (runId, keep, options) => connection.post(`${runPath(runId)}/keep`, { keep }, 'keyed', options),
    resume: (runId, answer = {}, options) =>
      connection.post(`${runPath(runId)}/resume`, answer, 'never', { ...options, long: true }),
    events: (runId, options = {}) => follow(runId, options.after ?? 0, options),
    trace: (runId, { call, ...options } = {}) => connection.list(`${runPath(runId)}/trace`, { call }, options),
    async text(runId, { as, ...options } = {}) {
      const call = { method: 'GET', path: `${runPath(runId)}/text`, query: { as }, repeat: 'safe' } as const
      return (await connection.whole({ ...options, ...call, headers: { accept: '*/*' } })).text()
    },
  }
}
