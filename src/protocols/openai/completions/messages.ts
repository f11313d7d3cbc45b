import { createHash } from 'node:crypto'
import { invalid } from '../../../core/error.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import { type GivenPart, textOf } from '../../../core/message.ts'
import type { StartGiven } from '../../../service/services.ts'
import { type Fields, field, isFields, listField, textField, wrong } from '../../fields.ts'
import { readContent } from '../content.ts'

interface PostedCall {
  id: string
  name: string
  arguments: string
}

export interface PostedMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  parts: readonly GivenPart[]
  /** Of an assistant. */
  calls: readonly PostedCall[]
  /** Of a tool: the call that it answers. */
  callId: string
}

const maxInstructionsBytes = 256 * 1024

/** A posted conversation. What follows the last message of the assistant is new; the rest is what the client remembers. */
export class Conversation {
  readonly messages: readonly PostedMessage[]
  /** How many messages come before the new ones. */
  readonly #earlier: number

  constructor(messages: readonly PostedMessage[]) {
    this.messages = messages
    this.#earlier = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  }

  /** The new messages of the user and of tools, in order. */
  get news(): readonly PostedMessage[] {
    return this.messages.slice(this.#earlier).filter(({ role }) => role !== 'system')
  }

  /** The outcomes of tools with which the conversation ends. */
  get outcomes(): readonly PostedMessage[] {
    const { news } = this
    return news.slice(news.findLastIndex(({ role }) => role !== 'tool') + 1)
  }

  /** Everything up to the last message of the assistant; empty in the first turn. */
  get earlier(): readonly PostedMessage[] {
    return this.messages.slice(0, this.#earlier)
  }

  /** The new messages as the input of a run. Throws `invalid_request` without any. */
  input(): GivenPart[] {
    const parts = this.news.flatMap(toParts)
    if (parts.length > 0) return parts
    throw invalid('messages must end with a message of the user, or of a tool, that has content.', 'messages')
  }

  /** The earlier messages for a run whose session does not have them; undefined in the first turn. */
  history(): StartGiven['history'] {
    const told = this.earlier.flatMap((message) => {
      const parts = toParts(message)
      if (message.role === 'system' || parts.length === 0) return []
      // What a tool gave is no word of the assistant.
      return [{ role: message.role === 'assistant' ? ('assistant' as const) : ('user' as const), parts }]
    })
    return told.length === 0 ? undefined : told
  }

  /** What the system and developer messages say; undefined without any. */
  instructions(): string | undefined {
    const texts = this.messages.flatMap(({ role, parts }) => (role === 'system' ? [textsOf(parts)] : []))
    const text = texts.filter((one) => one !== '').join('\n\n')
    if (Buffer.byteLength(text) > maxInstructionsBytes) {
      throw invalid(`The system messages have more than ${maxInstructionsBytes / 1024} KiB. Send less.`, 'messages')
    }
    return text === '' ? undefined : text
  }

  /** The text of the only new message, if it is one text of the user. */
  onlyText(): string | undefined {
    const [message, ...more] = this.news
    if (message?.role !== 'user' || more.length > 0) return undefined
    return message.parts.every(({ type }) => type === 'text') ? textsOf(message.parts) : undefined
  }

  /** The text of the last message of the user. */
  lastUserText(): string {
    return textsOf(this.messages.findLast(({ role }) => role === 'user')?.parts ?? [])
  }
}

export function readMessages(body: Fields): Conversation {
  const list = listField(body, 'messages')
  if (list === undefined || list.length === 0) throw wrong('messages', 'a list of messages')
  return new Conversation(list.map((message, place) => readMessage(message, `messages[${place}]`)))
}

const roles: Readonly<Record<string, PostedMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

function readMessage(message: unknown, param: string): PostedMessage {
  if (!isFields(message)) throw wrong(param, 'an object with role and content')
  const given = message.role
  const role = typeof given === 'string' && Object.hasOwn(roles, given) ? roles[given] : undefined
  if (role === undefined) throw wrong(`${param}.role`, "'system', 'developer', 'user', 'assistant' or 'tool'")
  const content = field(message, 'content')
  // An assistant that only calls tools has none.
  const hasNone = content === undefined && (role === 'assistant' || role === 'tool')
  const parts = hasNone ? [] : readContent(content, `${param}.content`)
  const calls = role === 'assistant' ? readCalls(message, `${param}.tool_calls`) : []
  const callId = role === 'tool' ? (textField(message, 'tool_call_id', `${param}.tool_call_id`) ?? '') : ''
  return { role, parts, calls, callId }
}

function readCalls(message: Fields, param: string): PostedCall[] {
  return (listField(message, 'tool_calls', param) ?? []).map((call, place) => {
    const at = `${param}[${place}]`
    const id = isFields(call) ? textField(call, 'id', `${at}.id`) : undefined
    if (!isFields(call) || id === undefined) throw wrong(at, 'a call with an id')
    const about = field(call, 'function') ?? {}
    if (!isFields(about)) throw wrong(`${at}.function`, 'an object')
    return {
      id,
      name: textField(about, 'name', `${at}.function.name`) ?? '',
      arguments: textField(about, 'arguments', `${at}.function.arguments`) ?? '',
    }
  })
}

/** As a run gets it: calls and outcomes of tools as data. */
function toParts({ role, parts, calls, callId }: PostedMessage): GivenPart[] {
  if (role === 'tool') return [data({ tool_call_id: callId, output: textsOf(parts) }), ...filesOf(parts)]
  return calls.length === 0 ? [...parts] : [...parts, data({ tool_calls: calls.map((call) => ({ ...call })) })]
}

function data(value: JsonObject): GivenPart {
  return { type: 'data', data: value as Json }
}

/** What a tool gave, as text. */
export function outputOf({ parts }: PostedMessage): string {
  return textsOf(parts)
}

function textsOf(parts: readonly GivenPart[]): string {
  return textOf(parts.filter((part) => part.type === 'text'))
}

function filesOf(parts: readonly GivenPart[]): GivenPart[] {
  return parts.filter(({ type }) => type === 'file')
}

/**
 * A digest of a conversation, the same for the answer as it was sent and as a client sends it back: roles, texts and calls, without
 * what clients take from a text or add to it.
 */
export class ConversationDigest {
  readonly #hash = createHash('sha256')

  add({ role, parts, calls, callId }: PostedMessage): this {
    const files = filesOf(parts).map((part) => createHash('sha256').update(JSON.stringify(part)).digest('base64url'))
    const said = JSON.stringify([role, plainText(textsOf(parts)), calls.map(({ id }) => id), callId, files])
    this.#hash.update(`${said}\n`)
    return this
  }

  /** `about`: whose conversation it is. */
  digest(about: readonly string[]): string {
    return createHash('sha256').update(JSON.stringify(about)).update(this.#hash.digest()).digest('base64url')
  }
}

function plainText(text: string): string {
  return without(without(text, '<think>', '</think>'), '<details', '</details>').trim()
}

/** Without the pieces from one mark to the next other one. No expression does this in linear time. */
function without(text: string, from: string, to: string): string {
  let rest = ''
  for (let at = 0; ; ) {
    const begin = text.indexOf(from, at)
    const end = begin === -1 ? -1 : text.indexOf(to, begin)
    if (end === -1) return rest + text.slice(at)
    rest += text.slice(at, begin)
    at = end + to.length
  }
}
