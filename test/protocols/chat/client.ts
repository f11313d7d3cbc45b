import {
  AbstractChat,
  type ChatState,
  DefaultChatTransport,
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
} from 'ai'

/** The message that the client builds from a stream, which it parses and checks. */
export async function built(stream: string, message?: UIMessage): Promise<UIMessage | undefined> {
  const parsed = parseJsonEventStream({ stream: new Response(stream).body as never, schema: uiMessageChunkSchema })
  const chunks = parsed.pipeThrough(
    new TransformStream({
      transform(result, controller) {
        if (!result.success) throw result.error
        controller.enqueue(result.value)
      },
    }),
  ) as ReadableStream<UIMessageChunk>
  let last: UIMessage | undefined
  // An error chunk is the stream's end; what came before stays.
  const options = { stream: chunks, onError: () => {}, ...(message && { message: structuredClone(message) }) }
  for await (const one of readUIMessageStream(options)) last = one
  return last
}

class Client extends AbstractChat<UIMessage> {}

/** A chat whose requests are answered with these streams. */
export function openClient(answer: (method: string) => string): AbstractChat<UIMessage> {
  const fetch = (async (_url, init) => new Response(answer(init?.method ?? 'GET'))) as typeof globalThis.fetch
  const state: ChatState<UIMessage> = {
    status: 'ready',
    error: undefined,
    messages: [],
    pushMessage: (message) => void state.messages.push(message),
    popMessage: () => void state.messages.pop(),
    replaceMessage: (index, message) => void state.messages.splice(index, 1, message),
    snapshot: (thing) => structuredClone(thing),
  }
  return new Client({ state, transport: new DefaultChatTransport({ api: 'http://127.0.0.1/chat', fetch }) })
}

/** Without what only clients keep, and with the decisions that only the record knows left out. */
export function plain(message: unknown): unknown {
  return JSON.parse(
    JSON.stringify(message, (key, value) => {
      if (key === 'approval') return { id: value.id }
      if (key === 'rawInput') return undefined
      return value?.type === 'reasoning' ? { ...value, id: undefined } : value
    }),
  )
}
