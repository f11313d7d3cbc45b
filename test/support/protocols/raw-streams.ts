/* The streams of useChat, AG-UI and A2A as bytes: what a client gets, whoever it is. */

interface Way {
  path: (agentId: string) => string
  body: (agentId: string, name: string) => object
}

const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const chatBody = (name: string) => ({
  id: name,
  messages: [{ id: name, role: 'user', parts: [{ type: 'text', text: name }] }],
})
const message = (name: string) => ({ messageId: name, role: 'ROLE_USER', parts: [{ text: name }] })

const ways = {
  useChat: { path: (agentId) => `/chat/${agentId}`, body: (_, name) => chatBody(name) },
  'useChat of ai 5': { path: (agentId) => `/chat/${agentId}?ui=5`, body: (_, name) => chatBody(name) },
  'A2A 1.0, JSON-RPC': {
    path: (agentId) => `/a2a/agents/${agentId}`,
    body: (_, name) => rpc('SendStreamingMessage', { message: message(name) }),
  },
  'A2A 1.0, HTTP+JSON': {
    path: (agentId) => `/a2a/agents/${agentId}/message:stream`,
    body: (_, name) => ({ message: message(name) }),
  },
  'A2A 0.3': {
    path: (agentId) => `/a2a/agents/${agentId}`,
    body: (_, name) =>
      rpc('message/stream', {
        message: { kind: 'message', messageId: name, role: 'user', parts: [{ kind: 'text', text: name }] },
      }),
  },
  'AG-UI': {
    path: (agentId) => `/ag-ui/${agentId}`,
    body: (_, name) => ({
      ...{ threadId: name, runId: name, messages: [{ id: name, role: 'user', content: name }] },
      forwardedProps: { agentserve: { on_disconnect: 'continue' } },
    }),
  },
  'simple A2A': {
    path: () => '/a2a/streamMessage',
    body: (agentId, name) => ({
      ...rpc('streamMessage', {
        message: { messageId: name, role: 'user', agentId, parts: [{ type: 'text', content: name }] },
      }),
      id: '1',
    }),
  },
} satisfies Record<string, Way>

export type RawWay = keyof typeof ways
export const rawWays = Object.keys(ways) as RawWay[]

export interface RawStream {
  runId: string
  /** The whole frames so far, without heartbeats. */
  frames(): string[]
  /** Resolves at the end of the connection, however it came. */
  ended: Promise<void>
}

/** Sends a message; the same `name` again is the same message. */
export async function openRaw(
  url: string,
  way: RawWay,
  agentId: string,
  name: string,
  headers: Record<string, string> = {},
): Promise<RawStream> {
  const { path, body }: Way = ways[way]
  const answer = await fetch(`${url}/api/v1${path(agentId)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body(agentId, name)),
  })
  let text = ''
  async function read(): Promise<void> {
    const pieces = answer.body?.pipeThrough(new TextDecoderStream()) ?? []
    try {
      for await (const piece of pieces) text += piece
      // A failure before the first frame is one object.
      if (answer.headers.get('content-type') !== 'text/event-stream') text += '\n\n'
    } catch (error) {
      // The server was killed.
      if (!(error instanceof TypeError)) throw error
    }
  }
  return {
    runId: answer.headers.get('x-run-id') ?? '',
    frames: () => text.split(/(?<=\n\n)/).filter((frame) => frame.endsWith('\n\n') && !frame.startsWith(':')),
    ended: read(),
  }
}

/** An agent that sends something of each kind until it is stopped. */
export const endlessAgent = `agent({
  async *run({ signal }) {
    for (let n = 0; ; n++) {
      yield 'fragment ' + n + '. '
      if (n % 5 === 1) yield { type: 'reasoning_delta', text: 'thought ' + n }
      if (n % 5 === 2) yield { type: 'data', data: { n } }
      if (n % 5 === 3) {
        yield { type: 'tool_call', call_id: 'call_' + n, name: 'look', input: { n } }
        yield { type: 'tool_result', call_id: 'call_' + n, name: 'look', output: 'seen', duration_ms: 1 }
      }
      await pause(n % 4, undefined, { signal })
    }
  },
})`

/** What is wrong with the frames that a client was left with, beside all frames of the same stream later. */
export function unlike(before: readonly string[], after: readonly string[], mayLack: boolean): string[] {
  const wrong: string[] = []
  if (before.length < 2) wrong.push('the client had nothing yet')
  const differs = before.findIndex((frame, place) => frame !== after[place])
  const common = differs < 0 ? before.length : differs
  const lost = before.slice(common).join('')
  if (lost !== '' && !mayLack) wrong.push(`lost, and the run does not say so: ${lost}`)
  if (lost.length > 40_000) wrong.push(`lost ${lost.length} characters`)
  // In place of what was lost comes the end, and nothing that the agent has said.
  const rest = after.slice(common)
  if (lost !== '' && /fragment|thought|look/.test(rest.join(''))) wrong.push(`said otherwise: ${rest.join('')}`)
  if (!rest.slice(-3).join('').includes('interrupted')) wrong.push(`has no end: ${rest.slice(-3).join('')}`)
  return wrong
}
