import { invalid, isAppError } from '../../../core/error.ts'
import { isEnded } from '../../../core/run.ts'
import { json, type Reply, sse } from '../../../http/reply.ts'
import type { HttpRequest } from '../../../http/request.ts'
import { wrong } from '../../fields.ts'
import type { OpenAIServices, OpenAISettings } from '../openai.ts'
import { objectOf, type Reading, resultOf, streamOf } from './answer.ts'
import { type FoundResponse, findResponse, noResponse } from './find.ts'
import { inputItems } from './input-items.ts'
import { answerPost } from './post.ts'
import { readPost } from './request.ts'
import { ResponseRun } from './run.ts'

type Settings = Pick<OpenAISettings, 'services' | 'leaving' | 'fileBytes'>

const mostItems = 100

/** What the routes of responses do. */
export function createResponses({ services: servicesOf, leaving, fileBytes }: Settings) {
  async function create(request: HttpRequest): Promise<Reply> {
    const services = servicesOf(request)
    const post = readPost(await request.body.json())
    const { handle, run, stretch, ignored } = await answerPost({ services, request, post, leaving })
    const reading: Reading = { services, run, stretch, fileBytes }
    const headers = {
      'X-Run-Id': handle.runId,
      'X-Session-Id': handle.sessionId,
      ...(ignored.length > 0 && { 'X-Agentserve-Ignored': [...new Set(ignored)].join(', ') }),
    }
    if (post.stream) return sse(await streamOf(reading, handle.events(0)), headers)
    if (!post.background) return json(await resultOf(reading, handle.events(0)), 200, headers)
    if (handle.replayed || stretch > 1) return json(await presentOf(reading), 200, headers)
    const status = run.status === 'queued' ? 'queued' : 'in_progress'
    return json({ ...new ResponseRun(run, 1).object(), status }, 200, headers)
  }

  async function presentOf(reading: Reading, id = ''): Promise<object> {
    const object = await objectOf(reading)
    if (object === undefined) throw noResponse(id)
    return object
  }

  async function find(
    request: HttpRequest,
  ): Promise<Reading & FoundResponse & { services: OpenAIServices; id: string }> {
    const { response_id: id = '' } = request.params
    const services = servicesOf(request)
    return { services, ...(await findResponse(services, id)), fileBytes, id }
  }

  async function get(request: HttpRequest): Promise<Reply> {
    const reading = await find(request)
    const { services, run, stretch, id } = reading
    if (!flagIn(request, 'stream')) return json(await presentOf(reading, id))
    const after = countIn(request, 'starting_after')
    // A stretch that has not begun would be waited for.
    if (stretch > 1) await presentOf(reading, id)
    if (!isEnded(run.status)) leaving.join(services, request, run.run_id)
    const events = await services.runs.events(run.run_id, 0, request.signal)
    const frames = await streamOf(reading, events, after)
    return sse(frames, { 'X-Run-Id': run.run_id, 'X-Session-Id': run.session_id })
  }

  /** What has ended stays as it is. */
  async function cancel(request: HttpRequest): Promise<Reply> {
    const reading = await find(request)
    const { services, run, id } = reading
    const object = await objectOf(reading)
    if (object === undefined) throw noResponse(id)
    if (object.status !== 'queued' && object.status !== 'in_progress') return json(object)
    try {
      await services.runs.cancel(run.run_id)
    } catch (error) {
      if (!isAppError(error) || error.code !== 'conflict') throw error
    }
    return json(await presentOf({ ...reading, run: await services.runs.get(run.run_id) }, id))
  }

  async function items(request: HttpRequest): Promise<Reply> {
    const { id, services, run, stretch } = await find(request)
    const all = await inputItems(services, { run, stretch })
    if (all === undefined) throw noResponse(id)
    const limit = countIn(request, 'limit') ?? 20
    if (limit < 1 || limit > mostItems) throw wrong('limit', `a whole number from 1 to ${mostItems}`)
    const order = request.query.get('order') ?? 'desc'
    if (order !== 'asc' && order !== 'desc') throw wrong('order', "'asc' or 'desc'")
    const sorted = order === 'asc' ? all : all.toReversed()
    const after = request.query.get('after')
    const place = after === null ? -1 : sorted.findIndex((item) => item.id === after)
    if (after !== null && place === -1) throw invalid('after must be the id of an input item.', 'after')
    const data = sorted.slice(place + 1, place + 1 + limit)
    const ids = { first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }
    return json({ object: 'list', data, ...ids, has_more: place + 1 + limit < sorted.length })
  }

  return { create, get, cancel, items }
}

function flagIn({ query }: HttpRequest, name: string): boolean {
  const given = query.get(name)
  if (given === null || given === 'false') return false
  if (given === 'true') return true
  throw wrong(name, "'true' or 'false'")
}

function countIn({ query }: HttpRequest, name: string): number | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  if (/^\d{1,16}$/.test(given) && Number.isSafeInteger(Number(given))) return Number(given)
  throw wrong(name, 'a whole number')
}
