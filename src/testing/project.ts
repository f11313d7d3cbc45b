import type { EntityId, UserConfig } from '../config/types.ts'
import { type RecordedCall, recordedCalls } from '../core/again/recorded-calls.ts'
import type { RunEvent } from '../core/event.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isRemote } from '../core/knowledge/remote-source.ts'
import { type GivenPart, lastDataOf } from '../core/message.ts'
import type { ModelSetting } from '../core/model.ts'
import type { CallAnswer, Cost, RunRecord, Waiting } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import { markCited } from '../core/text/citations.ts'
import type { HostableAgent } from '../runnables/agent/host.ts'
import { ingestSources, type OpenServer, openTestServer } from '../server.ts'

/** Text, parts, or data for a workflow. */
export type TestInput = string | readonly GivenPart[] | JsonObject

export interface RunOptions {
  /** The session to continue. It is created if it does not exist. Default: a new session. */
  sessionId?: string
  userId?: string
  metadata?: JsonObject
  /** Replaces the session's state. */
  state?: JsonObject
  signal?: AbortSignal
}

/** One decision or input for everything that waits, or one answer per `call_id`. */
export interface TestAnswer {
  approved?: boolean | Record<string, boolean>
  input?: Json
  answers?: Record<string, CallAnswer>
}

/** A tool call with its result. */
export interface TestToolCall extends RecordedCall {}

/** The result of a run, with the names of the record. A failed run is returned, not thrown. */
export interface RunResult {
  run_id: string
  session_id: string
  status: RunRecord['status']
  /** The answer. */
  text: string
  /** Its last data part; undefined when it has none. */
  data: Json | undefined
  error: RunRecord['error']
  tool_calls: TestToolCall[]
  /** The names of the sources of the answer. */
  sources: string[]
  /** Those among them that the answer cites. */
  cited: string[]
  /** All events, including prompts. */
  events: RunEvent[]
  usage: RunRecord['usage']
  /** Null when the price of a part is not known. */
  cost: Cost | null
  /** What the run waits for. Empty unless its status is `input_required`. */
  waiting: Waiting[]
}

export interface ProjectOptions {
  /** Replaces every model of the config. */
  model?: ModelSetting
  /** The base of relative paths in the config. Default: the working directory. */
  root?: string
}

export interface TestProject<ID extends string = string> extends AsyncDisposable {
  run(id: ID, input: TestInput, options?: RunOptions): Promise<RunResult>
  /** Answers a run that waits for input. */
  resume(runId: string, answer: TestAnswer): Promise<RunResult>
  /** All events of a run, or of a team member's run. */
  events(runId: string): Promise<RunEvent[]>
  /** The session's state. */
  state(sessionId: string): Promise<JsonObject>
  /** Sends a request to the server without a socket. */
  inject: OpenServer['inject']
  close(): Promise<void>
}

/** Opens a config in this process as the server does, with sessions and knowledge in memory and its knowledge sources ingested. */
export async function openProject<CONFIG extends UserConfig>(
  config: CONFIG,
  options: ProjectOptions = {},
): Promise<TestProject<EntityId<CONFIG>>> {
  const { model } = options
  return openWith(config, options.root, model === undefined ? undefined : { model: () => model })
}

export async function openWith(
  config: UserConfig,
  root = process.cwd(),
  testDoubles: Parameters<typeof openTestServer>[2],
): Promise<TestProject> {
  const server = openTestServer(config, root, testDoubles)
  const { services } = server
  const close = () => server.shutdown({ deadline: 0 })
  try {
    await server.inject({ method: 'GET', url: '/health' })
    await readSources(server, config, root)
  } catch (error) {
    await close()
    throw error
  }
  return {
    async run(id, input, { sessionId, userId, metadata, state, signal } = {}) {
      const common = { entityId: id, parts: toParts(input), mode: 'plain', unknownSession: 'create' } as const
      const handle = await services.runs.start({ ...common, sessionId, userId, metadata, state, signal })
      return resultOf(server, await handle.result())
    },
    async resume(runId, answer) {
      const handle = await services.runs.resume(runId, { ...answer, mode: 'plain' })
      return resultOf(server, await handle.result())
    },
    events: (runId) => eventsOf(server, runId),
    async state(sessionId) {
      return (await services.sessions.get(sessionId)).session.state ?? {}
    },
    inject: server.inject,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Runs one agent, team, workflow or AI SDK `Agent` once. */
export async function run(
  entity: Runnable | HostableAgent,
  input: TestInput,
  { model, root, ...options }: ProjectOptions & RunOptions = {},
): Promise<RunResult> {
  const kind = 'kind' in entity && typeof entity.kind === 'string' ? entity.kind : 'agent'
  const config: UserConfig = { [`${kind}s`]: { tested: entity } }
  await using project = await openProject(config, { ...(model && { model }), ...(root && { root }) })
  return await project.run('tested', input, options)
}

async function readSources({ services }: OpenServer, { knowledge: wanted }: UserConfig, root: string): Promise<void> {
  const { knowledge, logger } = services
  if (knowledge === undefined || wanted?.sources === undefined) return
  const { collection, chunkSize, chunkOverlap } = wanted
  // Tests reach no network.
  const sources = wanted.sources.filter((source) => typeof source === 'string').filter((source) => !isRemote(source))
  const { signal } = new AbortController()
  await ingestSources({ knowledge, root, sources, collection, chunkSize, chunkOverlap, logger, signal })
}

function toParts(input: TestInput): GivenPart[] {
  if (typeof input === 'string') return [{ type: 'text', text: input }]
  return isParts(input) ? [...input] : [{ type: 'data', data: input }]
}

function isParts(input: TestInput): input is readonly GivenPart[] {
  return Array.isArray(input)
}

async function eventsOf({ services }: OpenServer, runId: string): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  const recorded = await services.runs.events(runId, 0)
  for await (const batch of services.runs.withPrompts(runId, recorded)) events.push(...batch)
  return events
}

async function resultOf(server: OpenServer, record: RunRecord): Promise<RunResult> {
  const events = await eventsOf(server, record.run_id)
  const answer = record.messages.findLast(({ role }) => role === 'assistant')
  return {
    run_id: record.run_id,
    session_id: record.session_id,
    status: record.status,
    text: answer?.content ?? '',
    data: lastDataOf(answer?.parts ?? []),
    error: record.error,
    tool_calls: recordedCalls(events),
    sources: namesOf(record.sources),
    cited: namesOf(markCited(record.sources, answer?.parts ?? []).filter(({ cited }) => cited)),
    events,
    usage: record.usage,
    cost: server.services.costs.ofRun(record),
    waiting: record.waiting,
  }
}

function namesOf(sources: RunRecord['sources']): string[] {
  return [...new Set(sources.map(({ source }) => source))]
}
