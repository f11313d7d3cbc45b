import type * as Ai from 'ai'
import type { ChatInit, ChatState, ChatStatus, HttpChatTransportInitOptions, ToolUIPart, UIMessage } from 'ai'

/** The major versions of `ai` whose `useChat` must work with the server. */
export const versions = [5, 6, 7] as const
export type Version = (typeof versions)[number]

/**
 * The package `ai` of that version, with the types of 7: where an older one differs, the test is about that. The name is no
 * literal, so that the types of the repository need no judges.
 */
export function loadAi(version: Version): Promise<typeof Ai> {
  const name = version === 7 ? 'ai' : `ai${version}`
  return import(name).catch((cause: unknown) => {
    throw new Error('The judges are not installed: npm run judges', { cause })
  })
}

/** What a hook of React keeps for `useChat`, kept in fields. */
class State implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined
  messages: UIMessage[]
  constructor(messages: UIMessage[]) {
    this.messages = messages
  }
  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, message]
  }
  popMessage = () => {
    this.messages = this.messages.slice(0, -1)
  }
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.with(index, this.snapshot(message))
  }
  snapshot = <T>(thing: T): T => structuredClone(thing)
}

interface Options extends Omit<ChatInit<UIMessage>, 'transport' | 'generateId'> {
  /** Where the chat posts to: `…/chat/{agent}`. */
  api: string
  transport?: Omit<HttpChatTransportInitOptions<UIMessage>, 'api'>
}

/** A chat as `useChat` holds it, without React. */
export async function openChat(version: Version, { api, transport, messages, ...options }: Options) {
  const { AbstractChat, DefaultChatTransport } = await loadAi(version)
  class Chat extends AbstractChat<UIMessage> {}
  return new Chat({
    ...options,
    transport: new DefaultChatTransport({ ...transport, api }),
    state: new State(messages ?? []),
  })
}

export type Chat = Awaited<ReturnType<typeof openChat>>

/** The text of a message, all its steps together. */
export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** One word a part: `step-start`, `text:done`, `tool-refund:output-available`. */
export function outlineOf(message: UIMessage | undefined): string[] {
  return (message?.parts ?? []).map((part) => ('state' in part ? `${part.type}:${part.state}` : part.type))
}

/** The call of a tool with which a message ends. */
export function lastCallOf(message: UIMessage | undefined): ToolUIPart & { approval: { id: string } } {
  const part = message?.parts.at(-1)
  if (part?.type.startsWith('tool-') !== true) throw new Error(`The last part is no call: ${JSON.stringify(part)}`)
  return part as ToolUIPart & { approval: { id: string } }
}

/** What the server answers when the page is loaded again. */
export interface SavedChat {
  id: string
  messages: UIMessage[]
  activeRunId: string | null
  has_more: boolean
}

export async function reloadChat(
  api: string,
  id: string,
  query = '',
  headers: Record<string, string> = {},
): Promise<SavedChat> {
  const answer = await fetch(`${api}/${encodeURIComponent(id)}${query}`, { headers })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return (await answer.json()) as SavedChat
}
