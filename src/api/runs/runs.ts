import { invalid } from '../../core/error.ts'
import type { RunHead } from '../../core/run.ts'
import { json, sse } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { StartRun } from '../../service/services.ts'
import { jsonAnswer } from '../../wire/document/route-doc.ts'
import { RunEvent } from '../../wire/event.ts'
import { toList } from '../../wire/list.ts'
import { parseBody, parseQuery } from '../../wire/parse.ts'
import {
  CancelRequest,
  ResumeRequest,
  RunDetail,
  RunEventsQuery,
  RunList,
  RunsQuery,
  StreamQuery,
} from '../../wire/run.ts'
import { RunTrace, RunTraceQuery } from '../../wire/run-trace.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { wantsPrompts } from '../route/included-prompts.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toRunAnswer, toRunDetail, withCost } from './answer.ts'
import { acceptsEvents, toFrames } from './stream.ts'

const route = routesAbout('Runs')

const params = { id: 'The run.' }
const runAnswer = jsonAnswer('The run.', RunDetail)

export function runRoutes(settings: ApiSettings): DocumentedRoute[] {
  const path = `${settings.prefix}/runs`
  return [
    route('GET', path, 'listRuns', {
      scope: 'sessions',
      summary: 'List runs, newest first',
      query: RunsQuery,
      responses: { 200: jsonAnswer('A page of runs.', RunList) },
      errors: [],
      handle: async (request, { runs, costs }) => {
        const { limit, cursor, ...filter } = parseQuery(RunsQuery, request.query)
        const { items, next } = await runs.list(filter, { limit, cursor })
        return json(toList('runs', { items: items.map((run) => withCost(run, costs)), next }))
      },
    }),
    route('GET', `${path}/:id`, 'getRun', {
      scope: 'run',
      summary: 'Get a run',
      params,
      responses: { 200: runAnswer },
      errors: ['run_not_found'],
      handle: async (request, { runs, costs }) => json(toRunDetail(await runs.get(pathId(request)), costs)),
    }),
    route('POST', `${path}/:id/cancel`, 'cancelRun', {
      scope: 'run',
      summary: 'Cancel a run',
      params,
      body: { required: false, content: { 'application/json': CancelRequest } },
      responses: { 200: runAnswer },
      errors: ['run_not_found', 'conflict'],
      handle: async (request, { runs, costs }) => {
        const id = pathId(request)
        await runs.head(id)
        const { reason } = parseBody(CancelRequest, await request.body.json())
        return json(toRunDetail(await runs.cancel(id, reason), costs))
      },
    }),
    route('POST', `${path}/:id/restore`, 'restoreRun', {
      scope: 'run',
      summary: 'Make a replaced run part of the conversation again',
      description:
        "Its turn comes back with those around it that were replaced by the same run. They replace the session's other turns, and the session gets the state in which they left it.",
      params,
      responses: { 200: runAnswer },
      errors: ['run_not_found', 'conflict'],
      handle: async (request, { runs, costs }) => json(toRunDetail(await runs.restore(pathId(request)), costs)),
    }),
    route('POST', `${path}/:id/resume`, 'resumeRun', {
      scope: 'run',
      summary: 'Resume a paused run or an interrupted workflow',
      params,
      body: { required: false, content: { 'application/json': ResumeRequest } },
      query: StreamQuery,
      responses: {
        200: {
          description: 'The run once it has ended or paused again, or the stream of its further events.',
          content: { ...runAnswer.content, 'text/event-stream': RunEvent },
        },
        202: { ...runAnswer, description: 'The run continues in the background.' },
      },
      errors: ['run_not_found', 'conflict', 'run_failed', 'run_limit', 'run_cancelled', 'timeout'],
      timeoutMs: settings.runTimeoutMs,
      handle: async (request, { runs, costs }) => {
        const id = pathId(request)
        const { mode, prompts, body } = await readResume(request, await runs.head(id))
        const { approved, input, answers, on_disconnect: onDisconnect } = body
        const answer = { approved, input, answers }
        const handle = await runs.resume(id, { ...answer, onDisconnect, mode, signal: request.signal })
        request.body.release?.()
        if (mode === 'background') return json(toRunDetail(await runs.get(id), costs), 202)
        if (mode === 'stream')
          return sse(toFrames(prompts ? runs.withPrompts(id, handle.events()) : handle.events(), prompts, costs), {
            'X-Run-Id': id,
          })
        const ended = await handle.result()
        toRunAnswer(ended, settings.runTimeoutMs, costs)
        return json(toRunDetail(ended, costs))
      },
    }),
    route('GET', `${path}/:id/events`, 'followRun', {
      scope: 'run',
      summary: 'Follow the events of a run',
      description:
        'Starts after any event, without gaps or repeats, even after the run has ended or the server has restarted.',
      params,
      query: RunEventsQuery,
      headers: { 'Last-Event-ID': 'The sequence number of the last event that the client received.' },
      responses: {
        200: {
          description: 'Server-sent events until the run ends.',
          content: { 'text/event-stream': RunEvent },
          headers: { 'X-Run-Id': 'The run.' },
        },
      },
      errors: ['run_not_found'],
      handle: async (request, { runs, costs }) => {
        const id = pathId(request)
        await runs.head(id)
        const { after, prompts } = readPosition(request)
        const events = await runs.events(id, after, request.signal)
        return sse(toFrames(prompts ? runs.withPrompts(id, events) : events, prompts, costs), { 'X-Run-Id': id })
      },
    }),
    route('GET', `${path}/:id/trace`, 'traceRun', {
      scope: ['sessions', 'prompts'],
      summary: 'Get the trace of a run',
      description:
        'Shows why a run answered as it did. For each model call: the exact prompt, passages with their scores, tool inputs and outputs.',
      params,
      query: RunTraceQuery,
      responses: {
        200: jsonAnswer('A page of model calls.', RunTrace),
      },
      errors: ['run_not_found', 'call_not_found'],
      handle: async (request, { runs, costs }) => {
        const id = pathId(request)
        await runs.head(id)
        const query = parseQuery(RunTraceQuery, request.query)
        if (query.call !== undefined && query.cursor !== undefined)
          throw invalid("call and cursor can't be combined. Use one of them.", 'call')
        const trace = await runs.trace(id, query)
        return json({ ...trace, calls: trace.calls.map((call) => ({ ...call, cost: costs.ofCall(call) })) })
      },
    }),
  ]
}

async function readResume(request: HttpRequest, run: RunHead) {
  const body = parseBody(ResumeRequest, await request.body.json())
  const streamed = body.stream || acceptsEvents(request)
  if (body.background && body.stream)
    throw invalid("background and stream can't be combined. Use one of them.", 'background')
  const background = !streamed && (body.background ?? run.background)
  const mode: StartRun['mode'] = streamed ? 'stream' : background ? 'background' : 'plain'
  return { body, mode, prompts: wantsPrompts(request, parseQuery(StreamQuery, request.query).include) }
}

/** A client that reconnects repeats its first URL, so `Last-Event-ID` wins over `after`. */
function readPosition(request: HttpRequest): { after: number; prompts: boolean } {
  const { after = 0, include } = parseQuery(RunEventsQuery, request.query)
  const prompts = wantsPrompts(request, include)
  const last = request.headers['last-event-id']
  if (last === undefined || last === '') return { after, prompts }
  if (typeof last !== 'string' || !/^\d{1,15}$/.test(last)) {
    throw invalid('Last-Event-ID must be the number of an event.', 'Last-Event-ID')
  }
  return { after: Number(last), prompts }
}
