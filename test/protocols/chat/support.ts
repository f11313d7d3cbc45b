import { onTestFinished } from 'vitest'
import { apiRoutes } from '../../../src/api/routes.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import { chatRoutes } from '../../../src/protocols/chat/chat.ts'
import { openTestServer } from '../../api/server.ts'
import { sentObjects } from '../../support/protocols/sent-objects.ts'
import { echo, failing, gate } from '../../support/services.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into messages field by field
export type Any = any

export function userMessage(id: string, text: string): object {
  return { id, role: 'user', parts: [{ type: 'text', text }] }
}

/** The chunks of a stream. */
export const chunksOf = sentObjects

/** The routes of useChat and of the API over real services and a memory store, without a socket. */
export async function openChats(entities: Record<string, Runnable> = {}) {
  const gated = gate()
  const server = await openTestServer({ entities: { echo, gated: gated.runnable, failing, ...entities } })
  onTestFinished(() => server.close())
  const { kernel, services, settings } = server
  const chat = chatRoutes({ prefix: settings.prefix, services: () => services, maxFiles: 3 }, 30_000)
  kernel.setRoutes([...apiRoutes(services, settings), ...chat])

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    server.call(method, `${settings.prefix}${path}`, body, headers)
  const open = (agent: string, body: unknown, signal?: AbortSignal) =>
    kernel.inject({
      method: 'POST',
      url: `${settings.prefix}/chat/${agent}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  return {
    ...server,
    gate: gated,
    call,
    /** Resolves with the beginning of the stream. */
    open,
    follow: (agent: string, chatId: string) =>
      kernel.inject({ url: `${settings.prefix}/chat/${agent}/${chatId}/stream` }),
    async post(agent: string, body: unknown, query = '') {
      const { status, headers, body: text } = await call('POST', `/chat/${agent}${query}`, body)
      return { status, headers, text: text as string, chunks: chunksOf(text) }
    },
    async reload(agent: string, chatId: string, query = ''): Promise<Any> {
      return (await call('GET', `/chat/${agent}/${chatId}${query}`)).body
    },
  }
}
