import { randomUUID } from 'node:crypto'

/*
 * The published clients of A2A, as one shape that tests can hold against each other. What they read is turned into JSON, in which
 * the parts of 1.0 and 0.3 have the same fields.
 */

export const dialects = ['1.0', '1.0 over REST', '0.3'] as const
export type Dialect = (typeof dialects)[number]

export interface Sent {
  text?: string
  data?: object
  taskId?: string
  contextId?: string
  messageId?: string
}
export interface SeenTask {
  id: string
  contextId: string
  /** As 0.3 names it: `input-required`. */
  state: string
  /** Of the artifacts. */
  text: string
  /** What the message of the status says, and the data in it. */
  says: string
  asks: unknown[]
}
export type SeenEvent =
  | ({ kind: 'task' } & SeenTask)
  | { kind: 'status'; taskId: string; state: string; says: string; asks: unknown[]; final: boolean }
  | { kind: 'artifact'; taskId: string; text: string; append: boolean; lastChunk: boolean }

export interface A2AJudge {
  /** Of the agent, as the client reads it. */
  card: Record<string, unknown>
  /** Waits for the end unless `wait` is false. */
  send(message: Sent, options?: { wait?: boolean }): Promise<SeenTask>
  stream(message: Sent, signal?: AbortSignal): AsyncGenerator<SeenEvent>
  get(id: string): Promise<SeenTask>
  cancel(id: string): Promise<SeenTask>
  resubscribe(id: string): AsyncGenerator<SeenEvent>
  /** Has the states of a task posted to the address. */
  push(taskId: string, url: string, token: string): Promise<void>
  /** The push configs of a task, as the client reads them. */
  pushes(taskId: string): Promise<unknown[]>
}

/** Finds the card below the base address, which ends in a slash, and connects as the card says. */
export async function connectA2A(
  dialect: Dialect,
  base: string,
  headers: Record<string, string> = {},
): Promise<A2AJudge> {
  const fetchImpl: typeof fetch = (url, init) => {
    const all = new Headers(init?.headers)
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    return fetch(url, { ...init, headers: all })
  }
  return dialect === '0.3' ? connect03(base, fetchImpl) : connect10(base, fetchImpl, dialect === '1.0 over REST')
}

async function connect10(base: string, fetchImpl: typeof fetch, rest: boolean): Promise<A2AJudge> {
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } =
    await load<typeof import('@a2a-js/sdk/client')>('@a2a-js/sdk/client')
  const { AgentCard, GetTaskRequest, SendMessageRequest, StreamResponse, Task } =
    await load<typeof import('@a2a-js/sdk')>('@a2a-js/sdk')
  const client = await new ClientFactory({
    transports: [rest ? new RestTransportFactory({ fetchImpl }) : new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(base)
  const request = ({ text, data, messageId = randomUUID(), ...ids }: Sent, wait = true) =>
    SendMessageRequest.fromJSON({
      message: { messageId, role: 'ROLE_USER', parts: [text === undefined ? { data } : { text }], ...ids },
      configuration: { returnImmediately: !wait },
    })
  const task = (result: unknown) => seeTask(Task.toJSON(result as never) as TaskJson)
  async function* events(stream: AsyncIterable<unknown>): AsyncGenerator<SeenEvent> {
    for await (const event of stream) {
      const json = StreamResponse.toJSON(event as never) as Record<string, TaskJson & UpdateJson>
      if (json.task !== undefined) yield { kind: 'task', ...seeTask(json.task) }
      else if (json.statusUpdate !== undefined) yield seeStatus(json.statusUpdate)
      else if (json.artifactUpdate !== undefined) yield seeArtifact(json.artifactUpdate)
      else throw new Error(`What is this? ${JSON.stringify(json)}`)
    }
  }
  return {
    card: AgentCard.toJSON(await client.getAgentCard()) as Record<string, unknown>,
    send: async (message, { wait } = {}) => task(await client.sendMessage(request(message, wait))),
    stream: (message, signal) => events(client.sendMessageStream(request(message), signal ? { signal } : {})),
    get: async (id) => task(await client.getTask(GetTaskRequest.fromJSON({ id }))),
    cancel: async (id) => task(await client.cancelTask({ tenant: '', id, metadata: undefined })),
    resubscribe: (id) => events(client.resubscribeTask({ tenant: '', id })),
    async push(taskId, url, token) {
      await client.createTaskPushNotificationConfig({
        tenant: '',
        taskId,
        id: '',
        url,
        token,
        authentication: undefined,
      })
    },
    async pushes(taskId) {
      const { configs } = await client.listTaskPushNotificationConfig({
        tenant: '',
        taskId,
        pageSize: 0,
        pageToken: '',
      })
      return configs
    },
  }
}

/** What is used of the client of 0.3, whose types only test/judges has. */
interface Client03 {
  getAgentCard(): Promise<Record<string, unknown>>
  sendMessage(params: object): Promise<TaskJson>
  sendMessageStream(params: object, options?: { signal?: AbortSignal }): AsyncIterable<TaskJson & UpdateJson>
  getTask(params: { id: string }): Promise<TaskJson>
  cancelTask(params: { id: string }): Promise<TaskJson>
  resubscribeTask(params: { id: string }): AsyncIterable<TaskJson & UpdateJson>
  setTaskPushNotificationConfig(params: object): Promise<object>
  listTaskPushNotificationConfig(params: { id: string }): Promise<object[]>
}
interface Package03 {
  ClientFactory: new (options: object) => { createFromUrl(base: string): Promise<Client03> }
  DefaultAgentCardResolver: new (options: object) => object
  JsonRpcTransportFactory: new (options: object) => object
}

async function connect03(base: string, fetchImpl: typeof fetch): Promise<A2AJudge> {
  const sdk = await load<Package03>('a2a-sdk-0.3/client')
  const client = await new sdk.ClientFactory({
    transports: [new sdk.JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new sdk.DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(base)
  const request = ({ text, data, messageId = randomUUID(), ...ids }: Sent, wait = true) => {
    const part = text === undefined ? { kind: 'data', data } : { kind: 'text', text }
    return {
      message: { kind: 'message', messageId, role: 'user', parts: [part], ...ids },
      configuration: { blocking: wait },
    }
  }
  async function* events(stream: AsyncIterable<TaskJson & UpdateJson>): AsyncGenerator<SeenEvent> {
    for await (const event of stream) {
      if (event.kind === 'task') yield { kind: 'task', ...seeTask(event) }
      else if (event.kind === 'status-update') yield seeStatus(event)
      else if (event.kind === 'artifact-update') yield seeArtifact(event)
      else throw new Error(`What is this? ${JSON.stringify(event)}`)
    }
  }
  return {
    card: await client.getAgentCard(),
    send: async (message, { wait } = {}) => seeTask(await client.sendMessage(request(message, wait))),
    stream: (message, signal) => events(client.sendMessageStream(request(message), signal ? { signal } : {})),
    get: async (id) => seeTask(await client.getTask({ id })),
    cancel: async (id) => seeTask(await client.cancelTask({ id })),
    resubscribe: (id) => events(client.resubscribeTask({ id })),
    async push(taskId, url, token) {
      await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { url, token } })
    },
    pushes: (taskId) => client.listTaskPushNotificationConfig({ id: taskId }),
  }
}

function load<T>(name: string): Promise<T> {
  return import(name).catch((cause: unknown) => {
    throw new Error('The judges are not installed: npm run judges', { cause })
  })
}

interface PartJson {
  text?: string
  data?: unknown
}
interface StatusJson {
  state: string
  message?: { parts: PartJson[] }
}
interface ArtifactJson {
  parts: PartJson[]
}
interface TaskJson {
  kind?: string
  id: string
  contextId: string
  status: StatusJson
  artifacts?: ArtifactJson[]
}
interface UpdateJson {
  taskId: string
  status: StatusJson
  artifact: ArtifactJson
  append?: boolean
  lastChunk?: boolean
  final?: boolean
}

const textOf = (parts: readonly PartJson[] = []) => parts.map(({ text = '' }) => text).join('')

function seeStatusOf({ state, message }: StatusJson) {
  const asks = (message?.parts ?? []).flatMap(({ data }) => (data === undefined ? [] : [data]))
  const plain = state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-')
  return { state: plain, says: textOf(message?.parts), asks }
}

function seeTask({ id, contextId, status, artifacts = [] }: TaskJson): SeenTask {
  return { id, contextId, ...seeStatusOf(status), text: artifacts.map(({ parts }) => textOf(parts)).join('') }
}

function seeStatus({ taskId, status, final = false }: UpdateJson): SeenEvent {
  return { kind: 'status', taskId, ...seeStatusOf(status), final }
}

function seeArtifact({ taskId, artifact, append = false, lastChunk = false }: UpdateJson): SeenEvent {
  return { kind: 'artifact', taskId, text: textOf(artifact.parts), append, lastChunk }
}
