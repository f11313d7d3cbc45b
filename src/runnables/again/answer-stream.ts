import type { Json } from '../../core/json.ts'
import type { ModelObject } from '../../core/model.ts'

/* Answers of a model as the AI SDK reads them, made from what a record or a script has of them. */

export type PlayedModel = Extract<ModelObject, { specificationVersion: 'v4' }>
type StreamResult = Awaited<ReturnType<PlayedModel['doStream']>>
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer PART> ? PART : never
export type CallOptions = Parameters<PlayedModel['doStream']>[0]
type GenerateResult = Awaited<ReturnType<PlayedModel['doGenerate']>>

/** The answer of a model to one call, with the names of the record. */
export interface ScriptedAnswer {
  text?: string | undefined
  reasoning?: string | undefined
  tool_calls?: readonly { name: string; input?: Json; call_id?: string | undefined }[] | undefined
  /** Files that the model makes. */
  files?: readonly { media_type: string; data: Uint8Array }[] | undefined
  /** Default 10 in, 10 out. */
  usage?: { input_tokens: number; output_tokens: number } | undefined
  finish_reason?: string | undefined
  /** The call fails with this error. */
  error?: Error | undefined
}

export function toStream(parts: readonly StreamPart[]): StreamResult {
  return { stream: ReadableStream.from(parts) as StreamResult['stream'] }
}

/** The stream of an answer, folded. */
export function toGenerated(parts: readonly StreamPart[]): GenerateResult {
  const content: GenerateResult['content'] = []
  let text = ''
  let reasoning = ''
  for (const part of parts) {
    if (part.type === 'text-delta') text += part.delta
    else if (part.type === 'reasoning-delta') reasoning += part.delta
    else if (part.type === 'tool-call' || part.type === 'source' || part.type === 'tool-result' || part.type === 'file')
      content.push(part)
  }
  if (text !== '') content.unshift({ type: 'text', text })
  if (reasoning !== '') content.unshift({ type: 'reasoning', text: reasoning })
  const finish = parts.find((part) => part.type === 'finish')
  if (finish === undefined) throw new Error('The answer ended early.')
  return { content, finishReason: finish.finishReason, usage: finish.usage, warnings: [] }
}

let callNumber = 0

export function partsOf(answer: ScriptedAnswer): StreamPart[] {
  const {
    text = '',
    reasoning = '',
    tool_calls = [],
    files = [],
    usage = { input_tokens: 10, output_tokens: 10 },
  } = answer
  const parts: StreamPart[] = [{ type: 'stream-start', warnings: [] }]
  if (reasoning !== '') {
    parts.push({ type: 'reasoning-start', id: 'r' })
    for (const delta of words(reasoning)) parts.push({ type: 'reasoning-delta', id: 'r', delta })
    parts.push({ type: 'reasoning-end', id: 'r' })
  }
  if (text !== '') {
    parts.push({ type: 'text-start', id: 't' })
    for (const delta of words(text)) parts.push({ type: 'text-delta', id: 't', delta })
    parts.push({ type: 'text-end', id: 't' })
  }
  for (const { media_type: mediaType, data } of files)
    parts.push({ type: 'file', mediaType, data: { type: 'data', data } })
  for (const { name, input = {}, call_id = `scripted-${++callNumber}` } of tool_calls) {
    parts.push({ type: 'tool-call', toolCallId: call_id, toolName: name, input: JSON.stringify(input) })
  }
  const usual = tool_calls.length > 0 ? 'tool-calls' : 'stop'
  parts.push({
    type: 'finish',
    finishReason: { unified: reasonOf(answer.finish_reason) ?? usual, raw: answer.finish_reason ?? usual },
    usage: {
      inputTokens: {
        total: usage.input_tokens,
        noCache: usage.input_tokens,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: usage.output_tokens, text: usage.output_tokens, reasoning: undefined },
    },
  })
  return parts
}

type Reason = Extract<StreamPart, { type: 'finish' }>['finishReason']['unified']
const reasons = [
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'other',
] as const satisfies readonly Reason[]

function reasonOf(text: string | undefined): Reason | undefined {
  return reasons.find((reason) => reason === text)
}

function words(text: string): string[] {
  return text.match(/\s*\S+\s*|\s+/g) ?? []
}
