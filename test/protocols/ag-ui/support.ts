import { onTestFinished } from 'vitest'
import { apiRoutes } from '../../../src/api/routes.ts'
import type { Runnable } from '../../../src/core/runnable.ts'
import { agUiRoutes } from '../../../src/protocols/ag-ui/ag-ui.ts'
import { Leaving } from '../../../src/protocols/leaving.ts'
import { openTestServer } from '../../api/server.ts'
import { manualTimers } from '../../support/manual-timers.ts'
import { sentObjects } from '../../support/protocols/sent-objects.ts'
import { echo, failing, gate } from '../../support/services.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into events field by field
export type Any = any

export const user = (id: string, content: unknown) => ({ id, role: 'user', content })

/** The events of a stream. */
export const eventsOf = sentObjects

/** The routes of AG-UI and of the API over real services and a memory store, without a socket. Time is that of the test. */
export async function openAgUi(entities: Record<string, Runnable> = {}) {
  const gated = gate()
  const server = await openTestServer({ entities: { echo, gated: gated.runnable, failing, ...entities } })
  onTestFinished(() => server.close())
  const { kernel, services, settings } = server
  const timers = manualTimers()
  const leaving = new Leaving(timers)
  const { prefix } = settings
  const routes = agUiRoutes({ prefix, services: () => services, leaving, maxFiles: 3, timeoutMs: 30_000 })
  kernel.setRoutes([...apiRoutes(services, settings), ...routes])

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    server.call(method, `${prefix}${path}`, body, headers)
  /** Resolves with the beginning of the stream. */
  const open = (agent: string, body: unknown, signal?: AbortSignal) =>
    kernel.inject({
      method: 'POST',
      url: `${prefix}/ag-ui/${agent}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  return {
    ...server,
    gate: gated,
    timers,
    leaving,
    call,
    open,
    connect: (agent: string, threadId: string, query = '') =>
      kernel.inject({ url: `${prefix}/ag-ui/${agent}/threads/${threadId}${query}` }),
    async post(agent: string, body: unknown) {
      const { status, headers, body: text } = await call('POST', `/ag-ui/${agent}`, body)
      const stream = typeof text === 'string' ? text : ''
      return { status, headers, body: text as Any, text: stream, events: eventsOf(stream) }
    },
    async thread(agent: string, threadId: string, query = '') {
      const { status, body } = await call('GET', `/ag-ui/${agent}/threads/${threadId}${query}`)
      const events = typeof body === 'string' ? eventsOf(body) : []
      const snapshot = events.find(({ type }) => type === 'MESSAGES_SNAPSHOT')
      return { status, body: body as Any, events, messages: snapshot?.messages as Any[], end: events.at(-1) }
    },
  }
}

export type AgUiServer = Awaited<ReturnType<typeof openAgUi>>

/** What a client posts. */
export const input = (threadId: string, runId: string, messages: unknown[], more: object = {}) => ({
  threadId,
  runId,
  protocolVersion: '1.0',
  state: {},
  messages,
  tools: [],
  context: [],
  forwardedProps: {},
  ...more,
})
