import { onTestFinished } from 'vitest'
import { apiRoutes } from '../../../../src/api/routes.ts'
import type { Runnable } from '../../../../src/core/runnable.ts'
import { Leaving } from '../../../../src/protocols/leaving.ts'
import { completionRoutes } from '../../../../src/protocols/openai/completions/completions.ts'
import { type OpenAISettings, openaiRoutes } from '../../../../src/protocols/openai/openai.ts'
import type { Services } from '../../../../src/service/services.ts'
import { openTestServer } from '../../../api/server.ts'
import { manualTimers } from '../../../support/manual-timers.ts'
import { sentObjects } from '../../../support/protocols/sent-objects.ts'
import { echo, failing, gate } from '../../../support/services.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers field by field
export type Any = any

export const user = (content: unknown) => ({ role: 'user', content })
export const assistant = (content: unknown, tool_calls?: unknown) => ({
  role: 'assistant',
  content,
  ...(tool_calls !== undefined && { tool_calls }),
})

/** The chunks of a stream. */
export const chunksOf: (stream: string) => Any[] = sentObjects

/** Chat completions and the API over real services and a memory store, without a socket; time passes by `timers`. */
export async function openCompletions(
  entities: Record<string, Runnable> = {},
  more: Partial<OpenAISettings> = {},
  seen: (services: Services) => Services = (services) => services,
) {
  const gated = gate()
  const server = await openTestServer({ entities: { echo, gated: gated.runnable, failing, ...entities } })
  onTestFinished(() => server.close())
  const { kernel, services, settings } = server
  const timers = manualTimers()
  const openai: OpenAISettings = {
    prefix: '/v1',
    services: () => seen(services),
    startedAtMs: 0,
    sessionFromUser: false,
    showTools: false,
    leaving: new Leaving(timers),
    maxFiles: 3,
    fileBytes: 1000,
    timeoutMs: 30_000,
    ...more,
  }
  kernel.setRoutes([...apiRoutes(services, settings), ...openaiRoutes(openai), ...completionRoutes(openai)])

  const complete = async (body: unknown, headers?: Record<string, string>) => {
    const answer = await server.call('POST', '/v1/chat/completions', body, headers)
    return { ...answer, content: answer.body?.choices?.[0]?.message?.content as string }
  }
  return {
    ...server,
    gate: gated,
    timers,
    openai,
    complete,
    /** A request whose answer is not read yet. */
    open: (body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      kernel.inject({
        method: 'POST',
        url: '/v1/chat/completions',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    async stream(body: object, headers?: Record<string, string>) {
      const {
        status,
        body: text,
        headers: sent,
      } = await server.call('POST', '/v1/chat/completions', { stream: true, ...body }, headers)
      return { status, headers: sent, text: text as string, chunks: chunksOf(text) }
    },
    get: async (path: string): Promise<Any> => (await server.call('GET', `${settings.prefix}${path}`)).body,
  }
}

export type Completions = Awaited<ReturnType<typeof openCompletions>>
