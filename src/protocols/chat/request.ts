import { invalid } from '../../core/error.ts'
import { isSessionId } from '../../core/id.ts'
import type { Json } from '../../core/json.ts'
import type { CallAnswer } from '../../core/run.ts'
import { parseKnown } from '../../wire/parse.ts'
import { ChatOptions } from '../../wire/protocols/chat.ts'
import { isObject } from './input.ts'

/** What the page says of a tool part that it has answered. */
export interface PostedAnswer extends CallAnswer {
  callId: string
  /** A decision about a call, or the outcome of a tool that the page executes. */
  kind: 'approval' | 'tool'
}

export interface PostedAnswers {
  messageId: string
  answers: PostedAnswer[]
}

export interface ChatPost {
  chatId: string
  trigger: 'submit-message' | 'regenerate-message'
  messageId: string | undefined
  /** The last message. */
  last: { id: string; role: 'user' | 'assistant'; parts: unknown; path: string }
  /** Of all assistant messages, the newest first. */
  answers: PostedAnswers[]
  options: ChatOptions
}

/** Reads what `useChat` posts. Of the conversation only the last message and answers count: the server has the record. */
export function readPost(body: unknown): ChatPost {
  if (!isObject(body)) throw invalid('The body must be a JSON object with `id` and `messages`, as useChat posts it.')
  const { id: chatId, messages, message, trigger = 'submit-message', messageId = null } = body
  if (!isSessionId(chatId)) throw invalid('id must be 1 to 128 of A-Z a-z 0-9 . _ : -', 'id')
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message')
    throw invalid("trigger must be 'submit-message' or 'regenerate-message'.", 'trigger')
  if (messageId !== null && typeof messageId !== 'string') throw invalid('messageId must be a string.', 'messageId')
  if (messages !== undefined && !Array.isArray(messages)) throw invalid('messages must be a list.', 'messages')
  const list: unknown[] = message === undefined ? (messages ?? []) : [message]
  const path = message === undefined ? `messages.${list.length - 1}` : 'message'
  return {
    chatId,
    trigger,
    messageId: messageId ?? undefined,
    last: readLast(list.at(-1), path),
    answers: list.toReversed().flatMap(answersOf),
    options: readOptions(body.agentserve),
  }
}

function readOptions(given: unknown): ChatOptions {
  if (given === undefined || given === null) return {}
  if (!isObject(given)) throw invalid('agentserve must be a JSON object.', 'agentserve')
  return parseKnown(ChatOptions, given)
}

function readLast(message: unknown, path: string): ChatPost['last'] {
  if (!isObject(message)) throw invalid('messages must have at least one message, or send `message`.', 'messages')
  const { id, role, parts } = message
  if (!isMessageId(id))
    throw invalid(`${path}.id must be a string of 1 to 256 characters, without NUL and half characters.`, `${path}.id`)
  if (role !== 'user' && role !== 'assistant')
    throw invalid(`${path}.role must be 'user' or 'assistant'.`, `${path}.role`)
  return { id, role, parts, path: `${path}.parts` }
}

/** As every store can keep it. */
function isMessageId(id: unknown): id is string {
  return typeof id === 'string' && id !== '' && id.length <= 256 && id.isWellFormed() && !id.includes('\0')
}

function answersOf(message: unknown): PostedAnswers[] {
  if (!isObject(message) || message.role !== 'assistant' || !Array.isArray(message.parts)) return []
  const answers = message.parts.flatMap(answerOf)
  return answers.length === 0 || typeof message.id !== 'string' ? [] : [{ messageId: message.id, answers }]
}

function answerOf(part: unknown): PostedAnswer[] {
  if (!isObject(part) || typeof part.toolCallId !== 'string') return []
  const { toolCallId: callId, state, approval, output, errorText } = part
  if (state === 'approval-responded' && isObject(approval) && typeof approval.approved === 'boolean') {
    const { approved, reason } = approval
    return [{ callId, kind: 'approval', approved, ...(typeof reason === 'string' && { reason }) }]
  }
  if (state === 'output-available') return [{ callId, kind: 'tool', output: (output ?? null) as Json }]
  if (state === 'output-error') return [{ callId, kind: 'tool', error: typeof errorText === 'string' ? errorText : '' }]
  return []
}
