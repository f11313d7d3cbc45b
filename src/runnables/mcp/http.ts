import type { MCPClientConfig } from '@ai-sdk/mcp'
import { messageOf } from '../../core/error.ts'
import { boundMessages } from './message-size.ts'
import type { CheckedEndpoint } from './settings.ts'

const connectTimeoutMs = 10_000
/** Kept from the previous chunk, because an id may be split between two; covers an id and the JSON around it. */
const longestId = 64

export interface HttpLine {
  transport: MCPClientConfig['transport']
  /** Aborts open requests. */
  close(): Promise<void>
}

/**
 * An MCP transport over HTTP, through undici. Redirects are refused, because they would forward the headers. `onBreak`
 * is called when a stream ends without its answer: the SDK would wait forever.
 */
export async function openHttp(
  { url, headers, type }: CheckedEndpoint,
  messageBytes: number,
  onBreak: (why: string) => void,
): Promise<HttpLine> {
  const { Agent, fetch } = await import('undici')
  // Streams stay open while the server is silent; calls have their own timeout.
  const dispatcher = new Agent({ connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 })
  const send = async (input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]) => {
    const answer = (await fetch(input, { ...init, dispatcher })) as unknown as Response
    const response = boundMessages(answer, messageBytes, onBreak)
    if (response.headers.get('content-type')?.includes('text/event-stream') !== true) return response
    if (init?.method === 'POST') return watch(response, answerTo(init.body), onBreak)
    return type === 'sse' ? watch(response, undefined, onBreak) : response
  }
  return {
    transport: {
      type: type === 'sse' ? 'sse' : 'http',
      url,
      headers: { ...headers },
      fetch: send as unknown as typeof globalThis.fetch,
    },
    close: () => dispatcher.destroy(),
  }
}

/** A pattern that the stream must contain before it may end. Matches text, because only the SDK parses it. */
function answerTo(request: unknown): RegExp | undefined {
  const { id } = JSON.parse(String(request)) as { id?: unknown }
  return new RegExp(`"id"\\s*:\\s*${JSON.stringify(id ?? null)}[,}\\s]`)
}

/** The same response. Without an `answer` its stream must not end at all. */
function watch(response: Response, answer: RegExp | undefined, onBreak: (why: string) => void): Response {
  if (response.body === null) return response
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let tail = ''
  let answered = false
  const look = (chunk: Uint8Array) => {
    if (answered || answer === undefined) return
    const text = tail + decoder.decode(chunk, { stream: true })
    answered = answer.test(text)
    tail = text.slice(-longestId)
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          look(value)
          return controller.enqueue(value)
        }
        if (!answered) onBreak('it closed the stream before it answered')
      } catch (error) {
        if (error instanceof Error && error.name === 'AbortError') return controller.error(error)
        if (!answered) onBreak(messageOf(error))
      }
      controller.close()
    },
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  })
  const { status, statusText, headers } = response
  return new Response(body, { status, statusText, headers })
}
