import { onTestFinished } from 'vitest'
import type { Runnable } from '../../../../src/core/runnable.ts'
import { Leaving } from '../../../../src/protocols/leaving.ts'
import type { OpenAISettings } from '../../../../src/protocols/openai/openai.ts'
import { responseRoutes } from '../../../../src/protocols/openai/responses/responses.ts'
import { scopeToUser } from '../../../../src/service/access/user-scope.ts'
import { openTestServer } from '../../../api/server.ts'
import { manualTimers } from '../../../support/manual-timers.ts'
import { echo, failing, gate, runnable } from '../../../support/services.ts'
import { type Any, eventsOf, ResponseFold } from './fold.ts'

/** Says the turns that it knows of. */
const recalls = runnable(async function* ({ text }, context) {
  const turns = await context.history(50)
  yield [...turns.map(({ content }) => content), text].join('|')
})

/** The routes of responses over real services and a memory store, without a socket. A header says which user asks. */
export async function openResponses(entities: Record<string, Runnable> = {}) {
  const gated = gate()
  const server = await openTestServer({ entities: { echo, recalls, failing, gated: gated.runnable, ...entities } })
  onTestFinished(() => server.close())
  const { kernel, services, store } = server
  const timers = manualTimers()
  const settings: OpenAISettings = {
    prefix: '/v1',
    services: ({ headers }) => {
      const user = headers['x-user']
      return typeof user === 'string' ? scopeToUser(services, store, user) : services
    },
    startedAtMs: 0,
    sessionFromUser: false,
    showTools: false,
    leaving: new Leaving(timers),
    maxFiles: 3,
    fileBytes: 1024 * 1024,
    timeoutMs: 30_000,
  }
  kernel.setRoutes(responseRoutes(settings))

  const call = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
    const answer = await server.call(method, `/v1${path}`, body, headers)
    return { ...answer, error: answer.body.error as Any }
  }
  const create = async (body: Any, headers?: Record<string, string>): Promise<Any> => {
    const { status, body: answer } = await call('POST', '/responses', { model: 'echo', ...body }, headers)
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(answer)}`)
    return answer
  }
  const get = async (id: string): Promise<Any> => (await call('GET', `/responses/${id}`)).body
  /** Resolves with the beginning of the answer. */
  const open = (body: Any, signal?: AbortSignal, headers: Record<string, string> = {}) =>
    kernel.inject({
      method: 'POST',
      url: '/v1/responses',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'echo', ...body }),
      ...(signal && { signal }),
    })
  return {
    ...server,
    gate: gated,
    timers,
    call,
    create,
    get,
    open,
    async stream(body: Any) {
      const { body: text } = await call('POST', '/responses', { model: 'echo', ...body, stream: true })
      return { text: text as string, response: ResponseFold.of(eventsOf(text)).response }
    },
    async replay(id: string, after?: number): Promise<string> {
      const more = after === undefined ? '' : `&starting_after=${after}`
      return (await call('GET', `/responses/${id}?stream=true${more}`)).body
    },
  }
}

export function textOf({ output }: Any): string {
  return output.flatMap(({ content = [] }: Any) => content.map(({ text }: Any) => text)).join('')
}
