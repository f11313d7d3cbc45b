import { invalid } from '../../core/error.ts'
import { json, sse } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { assertScopes } from '../../http/security/scope.ts'
import type { Services, StartRun } from '../../service/services.ts'
import { Agent, AgentList, AgentQuery, AgentsQuery } from '../../wire/agent.ts'
import { type DocResponse, jsonAnswer } from '../../wire/document/route-doc.ts'
import { RunEvent } from '../../wire/event.ts'
import { parseQuery } from '../../wire/parse.ts'
import { givenOf, RunAccepted, RunForm, RunRequest, RunResult, StreamQuery } from '../../wire/run.ts'
import { type DocumentedRoute, type RouteSettings, routesAbout } from '../route/documented.ts'
import { readIdempotency } from '../route/idempotency.ts'
import { wantsPrompts } from '../route/included-prompts.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toRunAnswer } from './answer.ts'
import { readRunBody } from './run-body.ts'
import { acceptsEvents, toFrames } from './stream.ts'

const route = routesAbout('Agents')

const runHeaders = {
  'X-Run-Id': 'The run.',
  'X-Session-Id': 'The session of the run.',
  'X-Agentserve-Ignored': 'The fields of the request that the run does not use: `instructions`.',
}
const streamAnswer = {
  description: 'Server-sent events: `id` is the sequence number, `event` the type, `data` the event.',
}

/** List and run agents, teams and workflows. `entityIds`: examples for the documentation. */
export function agentRoutes(settings: ApiSettings, entityIds: readonly string[]): DocumentedRoute[] {
  const path = `${settings.prefix}/agents`
  const params = { id: 'The agent, team or workflow.' }
  const examples = { id: entityIds }
  const run: Omit<RouteSettings, 'scope' | 'summary' | 'responses' | 'handle'> = {
    params,
    examples,
    query: StreamQuery,
    headers: {
      'Idempotency-Key': 'A retry with the same key and body returns the first run; it never starts a second one.',
    },
    body: { required: true, content: { 'application/json': RunRequest, 'multipart/form-data': RunForm } },
    errors: [
      'agent_not_found',
      'session_not_found',
      'run_not_found',
      'conflict',
      'run_cancelled',
      'idempotency_mismatch',
      'payload_too_large',
      'run_failed',
      'run_limit',
      'run_interrupted',
      'timeout',
    ],
  }
  const stream: DocResponse = { ...streamAnswer, content: { 'text/event-stream': RunEvent }, headers: runHeaders }
  return [
    route('GET', path, 'listAgents', {
      scope: 'any',
      summary: 'List agents, teams and workflows',
      query: AgentsQuery,
      responses: {
        200: jsonAnswer('All agents, teams and workflows.', AgentList),
      },
      errors: [],
      handle: (request, { registry }) => {
        const agents = registry.list(parseQuery(AgentsQuery, request.query).kind)
        return json({ agents, count: agents.length })
      },
    }),
    route('GET', `${path}/:id`, 'getAgent', {
      scope: 'any',
      summary: 'Describe an agent, team or workflow',
      description:
        'With `include=config` also how it is configured: only for operators, and never with keys, headers or addresses of providers.',
      query: AgentQuery,
      params,
      examples,
      responses: { 200: jsonAnswer('The agent.', Agent) },
      errors: ['agent_not_found', 'forbidden'],
      handle: async (request, { registry }) => {
        const id = pathId(request)
        const info = registry.info(id)
        if (parseQuery(AgentQuery, request.query).include === undefined) return json(info)
        assertScopes(request.scopes, 'operator')
        return json({ ...info, config: await registry.config(id) })
      },
    }),
    route('POST', `${path}/:id/run`, 'runAgent', {
      ...run,
      summary: 'Run an agent',
      description:
        'Waits for the answer by default. Streams it with `stream` or `Accept: text/event-stream`. Returns at once with `background`.',
      responses: {
        200: {
          ...stream,
          description: 'The answer, or the stream.',
          content: { 'application/json': RunResult, ...stream.content },
        },
        202: jsonAnswer('The run continues in the background.', RunAccepted, {
          Location: 'The path of the run.',
          ...runHeaders,
        }),
      },
      scope: 'run',
      timeoutMs: settings.runTimeoutMs,
      handle: (request, services) => startRun(services, settings, request, false),
    }),
    route('POST', `${path}/:id/run/stream`, 'streamAgent', {
      ...run,
      summary: 'Run an agent and stream its events',
      responses: { 200: stream },
      scope: 'run',
      timeoutMs: settings.runTimeoutMs,
      handle: (request, services) => startRun(services, settings, request, true),
    }),
  ]
}

async function startRun(services: Services, settings: ApiSettings, request: HttpRequest, streamed: boolean) {
  const entityId = pathId(request)
  services.registry.get(entityId)
  const { handle, mode, prompts } = await begin(services, request, entityId, streamed)
  const headers = {
    'X-Run-Id': handle.runId,
    'X-Session-Id': handle.sessionId,
    ...(handle.ignored !== undefined && { 'X-Agentserve-Ignored': handle.ignored.join(', ') }),
  }
  if (mode === 'plain')
    return json(toRunAnswer(await handle.result(), settings.runTimeoutMs, services.costs), 200, headers)
  if (mode === 'stream') {
    const events = handle.events()
    return sse(
      toFrames(prompts ? services.runs.withPrompts(handle.runId, events) : events, prompts, services.costs),
      headers,
    )
  }
  const { status } = await services.runs.get(handle.runId)
  const accepted: RunAccepted = { run_id: handle.runId, session_id: handle.sessionId, status }
  return json(accepted, 202, { Location: `${settings.prefix}/runs/${handle.runId}`, ...headers })
}

/** Nothing of the request's body outlives this call: a run may take hours. */
async function begin(services: Services, request: HttpRequest, entityId: string, streamed: boolean) {
  const { start, prompts } = await readStart(request, entityId, streamed)
  const handle = await services.runs.start(start)
  request.body.release?.()
  return { handle, mode: start.mode, prompts }
}

async function readStart(request: HttpRequest, entityId: string, streamed: boolean) {
  const { body, parts } = await readRunBody(request)
  if (body.background && (streamed || body.stream))
    throw invalid("background and stream can't be combined. Use one of them.", 'background')
  const start: StartRun = {
    entityId,
    parts,
    sessionId: body.session_id,
    unknownSession: 'refuse',
    userId: body.user_id,
    metadata: body.metadata,
    state: body.state,
    given: givenOf(body),
    replaces: body.replaces,
    strategy: body.multitask_strategy,
    mode: body.background ? 'background' : streamed || body.stream || acceptsEvents(request) ? 'stream' : 'plain',
    onDisconnect: body.on_disconnect,
    signal: request.signal,
    idempotency: await readIdempotency(request, 'POST /agents/run'),
  }
  return { start, prompts: wantsPrompts(request, parseQuery(StreamQuery, request.query).include) }
}
