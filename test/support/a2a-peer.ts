import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentCard, Message, type Part, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'

/* Agents of other makers: one by the official SDK's server half, over real sockets. */

export type Binding = 'JSONRPC 1.0' | 'HTTP+JSON 1.0' | 'JSONRPC 0.3'

/** What an agent of the SDK says, in the JSON of A2A 1.0. */
export interface Telling {
  asked: string
  message: { parts: unknown[]; taskId: string; contextId: string; messageId: string }
  taskId: string
  contextId: string
  /** The task was there before this message. */
  isKnown: boolean
  task(state: string, more?: object): void
  status(state: string, text?: string, ...parts: object[]): void
  artifact(artifactId: string, parts: object[], more?: object): void
  reply(...parts: object[]): void
  cancelled: Promise<void>
}

export interface SdkPeer {
  url: string
  /** Of all requests: method and path, or the method of JSON-RPC. */
  calls: string[]
  headers: IncomingMessage['headers'][]
  close(): Promise<void>
}

interface Options {
  binding?: Binding
  streaming?: boolean
  agent(telling: Telling): Promise<void> | void
}

type ExpressApp = RequestListener & { use(path: string, ...handlers: unknown[]): void }

export async function openSdkPeer({ binding = 'JSONRPC 1.0', streaming = true, agent }: Options): Promise<SdkPeer> {
  // It comes with the SDK, without types.
  const name: string = 'express'
  const express = ((await import(name)) as { default(): ExpressApp }).default
  const app = express()
  const calls: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const server = createServer((request, response) => {
    headers.push(request.headers)
    calls.push(`${request.method} ${request.url}`)
    app(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [protocolBinding = '', protocolVersion = ''] = binding.split(' ')
  const card = AgentCard.fromJSON({
    name: 'Peer',
    description: 'An agent of the SDK.',
    version: '1',
    supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding, protocolVersion }],
    capabilities: { streaming },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'any', name: 'Any', description: 'Anything.', tags: ['any'] }],
  })
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executorOf(agent))
  const legacyCompat = { enabled: binding === 'JSONRPC 0.3' }
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }))
  app.use('/a2a', binding === 'HTTP+JSON 1.0' ? restHandler(options) : jsonRpcHandler(options))
  return { url, calls, headers, close: () => closeServer(server) }
}

async function closeServer(server: ReturnType<typeof createServer>): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

function executorOf(agent: Options['agent']): AgentExecutor {
  const cancels = new Map<string, () => void>()
  return {
    async execute(request: RequestContext, bus: ExecutionEventBus) {
      const { taskId, contextId, userMessage, task: known } = request
      const ids = { taskId, contextId }
      const cancelled = new Promise<void>((resolve) => cancels.set(taskId, resolve))
      const status = (state: string, text?: string, parts: object[] = []) => ({
        state: `TASK_STATE_${state}`,
        timestamp: new Date().toISOString(),
        ...((text !== undefined || parts.length > 0) && {
          message: message([...(text === undefined ? [] : [{ text }]), ...parts]),
        }),
      })
      const message = (parts: object[]) => ({ messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts, ...ids })
      await agent({
        asked: userMessage.parts.map(textOf).join(''),
        message: Message.toJSON(userMessage) as Telling['message'],
        ...ids,
        isKnown: known !== undefined,
        task: (state, more = {}) => {
          const before = known === undefined ? {} : (Task.toJSON(known) as object)
          bus.publish(
            AgentEvent.task(Task.fromJSON({ ...before, id: taskId, contextId, status: status(state), ...more })),
          )
        },
        status: (state, text, ...parts) =>
          bus.publish(
            AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status: status(state, text, parts) })),
          ),
        artifact: (artifactId, parts, more = {}) =>
          bus.publish(
            AgentEvent.artifactUpdate(
              TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact: { artifactId, parts }, ...more }),
            ),
          ),
        reply: (...parts) => bus.publish(AgentEvent.message(Message.fromJSON(message(parts)))),
        cancelled,
      })
    },
    async cancelTask(taskId, bus) {
      cancels.get(taskId)?.()
      const status = { state: 'TASK_STATE_CANCELED', timestamp: new Date().toISOString() }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId: '', status })))
    },
  }
}

function textOf({ content }: Part): string {
  return content?.$case === 'text' ? content.value : ''
}

export interface RpcCall {
  method: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape
  params: any
  id: unknown
}

/** What a scripted peer gives for a call: a result, or events of a stream. */
export type RpcScript = (call: RpcCall, give: Give, index: number) => void

export interface Give {
  result(value: object): void
  error(code: number, message: string): void
  /** One more event of a stream; the answer stays open until `end` or `cut`. */
  event(value: object): void
  raw(text: string): void
  end(): void
  cut(): void
  response: ServerResponse
}

export interface ScriptedPeer {
  url: string
  calls: RpcCall[]
  headers: IncomingMessage['headers'][]
  /** Paths of other requests. */
  paths: string[]
  close(): Promise<void>
}

/** A peer that does to each call of JSON-RPC what a test says. `card` gets its address. */
export async function openScriptedPeer(script: RpcScript, card: (url: string) => unknown): Promise<ScriptedPeer> {
  const calls: RpcCall[] = []
  const headers: IncomingMessage['headers'][] = []
  const paths: string[] = []
  const server = createServer(async (request, response) => {
    headers.push(request.headers)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.method === 'GET') {
      paths.push(request.url ?? '')
      const given = request.url === '/.well-known/agent-card.json' ? card(url) : undefined
      response.writeHead(given === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(typeof given === 'string' ? given : JSON.stringify(given ?? {}))
      return
    }
    const call = JSON.parse(Buffer.concat(chunks).toString()) as RpcCall
    calls.push(call)
    script(call, giveTo(response, call.id), calls.length - 1)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, calls, headers, paths, close: () => closeServer(server) }
}

function giveTo(response: ServerResponse, id: unknown): Give {
  const json = (value: object) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...value }))
  }
  const raw = (text: string) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text)
  }
  return {
    response,
    raw,
    result: (result) => json({ result }),
    error: (code, message) => json({ error: { code, message } }),
    event: (result) => raw(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`),
    end: () => response.end(),
    cut: () => response.write('', () => response.destroy()),
  }
}

/** A card of version 1.0 with one interface. */
export function cardOf(url: string, more: object = {}): object {
  const supportedInterfaces = [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
  return { name: 'Scripted', supportedInterfaces, capabilities: { streaming: true }, ...more }
}

/** The same of version 0.3. */
export function oldCardOf(url: string, more: object = {}): object {
  return { name: 'Old', url: `${url}/rpc`, protocolVersion: '0.3.0', capabilities: { streaming: true }, ...more }
}
