import { MockLanguageModelV4, simulateReadableStream } from 'ai/test'
import type { Json } from '../core/json.ts'

type StreamResult = Awaited<ReturnType<MockLanguageModelV4['doStream']>>
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer PART> ? PART : never
export type CallOptions = Parameters<MockLanguageModelV4['doStream']>[0]
type GenerateResult = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

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

/** One call of the model, as a script function gets it. */
export interface ModelCall {
  /** From 1. */
  number: number
  /** The latest message of the user, as text. */
  text: string
  prompt: CallOptions['prompt']
  tools: string[]
}

type Answer = string | ScriptedAnswer
export type Script = (call: ModelCall) => Answer | Promise<Answer>

export interface ScriptedModel extends MockLanguageModelV4 {
  /** The calls so far. */
  readonly calls: readonly ModelCall[]
}

/**
 * A model that needs no network. It returns one of these answers per call, or the result of the function. A call after the
 * last answer fails. Texts are streamed word by word.
 */
export function scriptedModel(...script: readonly Answer[] | [Script]): ScriptedModel {
  const calls: ModelCall[] = []
  const [first] = script
  const answerTo = async (options: CallOptions): Promise<ScriptedAnswer> => {
    options.abortSignal?.throwIfAborted()
    const call: ModelCall = {
      number: calls.length + 1,
      text: lastUserText(options.prompt),
      prompt: options.prompt,
      tools: (options.tools ?? []).map(({ name }) => name),
    }
    calls.push(call)
    const answer = typeof first === 'function' ? await first(call) : (script as readonly Answer[])[call.number - 1]
    if (answer === undefined) {
      throw new Error(`The script has ${script.length} answers, and this is call ${call.number}: '${call.text}'.`)
    }
    const full = typeof answer === 'string' ? { text: answer } : answer
    assertNames(full)
    if (full.error !== undefined) throw full.error
    return full
  }
  const model = new MockLanguageModelV4({
    provider: 'scripted',
    modelId: 'scripted',
    doStream: async (options) => toStream(partsOf(await answerTo(options))),
    doGenerate: async (options) => toGenerated(partsOf(await answerTo(options))),
  })
  return Object.defineProperty(model, 'calls', { value: calls }) as ScriptedModel
}

export function toStream(parts: StreamPart[]): StreamResult {
  return { stream: simulateReadableStream({ chunks: parts, initialDelayInMs: null, chunkDelayInMs: null }) }
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

const renamed = { toolCalls: 'tool_calls', finishReason: 'finish_reason' }

function assertNames(answer: ScriptedAnswer): void {
  for (const [old, name] of Object.entries(renamed)) {
    if (old in answer) throw new Error(`scriptedModel(): \`${old}\` is now called \`${name}\`: rename it.`)
  }
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

export function lastUserText(prompt: CallOptions['prompt']): string {
  const message = prompt.findLast(({ role }) => role === 'user')
  const content = message?.role === 'user' ? message.content : []
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}
