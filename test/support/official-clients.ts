import {
  AgentCard,
  type Part,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskState,
} from '@a2a-js/sdk'
import { Client, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'
import { LegacyJsonRpcTransport } from '@a2a-js/sdk/compat/v0_3/client'

/* The clients of A2A's own SDK, by each way that an agent is served. */

export const officialWays = ['JSON-RPC 1.0', 'HTTP+JSON 1.0', 'JSON-RPC 0.3'] as const
export type OfficialWay = (typeof officialWays)[number]

/** `base` ends in a slash: the SDK looks for the card below it. `onTheWay` changes what the server answers. */
export async function officialClient(
  way: OfficialWay,
  base: string,
  headers: Record<string, string> = {},
  onTheWay?: (text: string) => string,
) {
  const fetchImpl: typeof fetch = async (input, init) => {
    const answer = await fetch(input, { ...init, headers: { ...headersOf(init?.headers), ...headers } })
    return onTheWay === undefined ? answer : new Response(onTheWay(await answer.text()), answer)
  }
  const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(base)
  const binding = way === 'HTTP+JSON 1.0' ? 'HTTP+JSON' : 'JSONRPC'
  const version = way === 'JSON-RPC 0.3' ? '0.3' : '1.0'
  const face = card.supportedInterfaces.find(
    (one) => one.protocolBinding === binding && one.protocolVersion === version,
  )
  if (face === undefined) throw new Error(`the card has no ${way}`)
  const transport =
    version === '0.3'
      ? new LegacyJsonRpcTransport({ endpoint: face.url, fetchImpl })
      : binding === 'JSONRPC'
        ? await new JsonRpcTransportFactory({ fetchImpl }).create(face.url, card)
        : await new RestTransportFactory({ fetchImpl }).create(face.url, card)
  return new Client(transport, AgentCard.fromJSON(AgentCard.toJSON(card)))
}

function headersOf(given: RequestInit['headers']): Record<string, string> {
  return Object.fromEntries(new Headers(given))
}

let count = 0

export interface Said {
  messageId?: string
  taskId?: string
  contextId?: string
  returnImmediately?: boolean
}

export function textOf(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' }
}

export function dataOf(value: unknown): Part {
  return { content: { $case: 'data', value }, metadata: undefined, filename: '', mediaType: '' }
}

/** A message of the user. */
export function said(
  parts: string | Part[],
  { messageId, taskId = '', contextId = '', returnImmediately }: Said = {},
): SendMessageRequest {
  count++
  return {
    tenant: '',
    metadata: undefined,
    configuration:
      returnImmediately === undefined
        ? undefined
        : { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
    message: {
      messageId: messageId ?? `said-${process.pid}-${count}`,
      role: Role.ROLE_USER,
      parts: typeof parts === 'string' ? [textOf(parts)] : parts,
      contextId,
      taskId,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  }
}

export interface FoldedTask {
  id: string
  contextId: string
  state: TaskState | undefined
  /** Of the status. */
  message: string
  text: string
  data: unknown[]
}

/** What a client knows of the task, from a snapshot or a stream: texts are joined. */
export function folded(events: Iterable<Task | StreamResponse>): FoldedTask {
  const task: FoldedTask = { id: '', contextId: '', state: undefined, message: '', text: '', data: [] }
  const add = (parts: readonly Part[]) => {
    for (const { content } of parts) {
      if (content?.$case === 'text') task.text += content.value
      else if (content?.$case === 'data') task.data.push(content.value)
    }
  }
  const setStatus = (status: Task['status']) => {
    task.state = status?.state
    task.message = (status?.message?.parts ?? [])
      .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
      .join('')
  }
  for (const event of events) {
    const payload = 'id' in event ? { $case: 'task' as const, value: event } : event.payload
    if (payload?.$case === 'task') {
      const { id, contextId, status, artifacts } = payload.value
      Object.assign(task, { id, contextId, text: '', data: [] })
      setStatus(status)
      for (const { parts } of artifacts) add(parts)
    } else if (payload?.$case === 'artifactUpdate') {
      if (!payload.value.append) Object.assign(task, { text: '', data: [] })
      add(payload.value.artifact?.parts ?? [])
    } else if (payload?.$case === 'statusUpdate') setStatus(payload.value.status)
  }
  return task
}
