import { readFileSync } from 'node:fs'
import { createOpenAI } from '@ai-sdk/openai'
import { wrapLanguageModel } from 'ai'
import { type ModelObject, type ModelSetting, splitModelName } from '../../src/core/model.ts'
import type { Usage } from '../../src/core/run.ts'
import { resolveModel } from '../../src/models/resolve.ts'
import { openEndpoint } from './endpoint.ts'

/*
 * Ten calls of seven providers: the HTTP answers in the providers' documented forms, and what the record of such a call
 * has. A detail that is not in `usage` was not reported.
 */

export interface RecordedCall {
  /** The answer's file in `fixtures/model-calls`, without its ending. */
  answer: string
  /** What a config has, or the API of a package. */
  model: ModelSetting | 'chat of @ai-sdk/openai'
  /** As in `model_call_start`. */
  name: string
  usage: Usage
}

const usageOf = (input_tokens: number, output_tokens: number, details: Partial<Usage> = {}): Usage => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
  ...details,
})

const apiKey = 'key-of-nobody-0123456789'
const at = (baseURL: string, model: string) => ({ baseURL, model, apiKey })

export const recordedCalls: readonly RecordedCall[] = [
  {
    answer: 'openai-responses',
    model: 'openai/gpt-5',
    name: 'openai/gpt-5',
    usage: usageOf(2006, 812, { cached_input_tokens: 1920, reasoning_tokens: 576 }),
  },
  {
    answer: 'openai-chat',
    model: 'chat of @ai-sdk/openai',
    name: 'openai/gpt-4o',
    usage: usageOf(2006, 300, { cached_input_tokens: 1920, reasoning_tokens: 0 }),
  },
  {
    // The 188,086 written tokens are part of the input, and so are the read ones of the next.
    answer: 'anthropic-cache-write',
    model: 'anthropic/claude-sonnet-4-5',
    name: 'anthropic/claude-sonnet-4-5',
    usage: usageOf(188_107, 393, { cached_input_tokens: 0, cache_write_tokens: 188_086 }),
  },
  {
    answer: 'anthropic-cache-read',
    model: 'anthropic/claude-haiku-4-5',
    name: 'anthropic/claude-haiku-4-5',
    usage: usageOf(100_298, 503, { cached_input_tokens: 100_000, cache_write_tokens: 248, reasoning_tokens: 210 }),
  },
  {
    // Gemini counts thoughts beside the candidates.
    answer: 'google-thinking',
    model: 'google/gemini-2.5-pro',
    name: 'google/gemini-2.5-pro',
    usage: usageOf(5210, 923, { cached_input_tokens: 4096, reasoning_tokens: 801 }),
  },
  {
    answer: 'google-plain',
    model: 'google/gemini-2.5-flash',
    name: 'google/gemini-2.5-flash',
    usage: usageOf(40, 12, { cached_input_tokens: 0, reasoning_tokens: 0 }),
  },
  {
    answer: 'deepseek',
    model: at('https://api.deepseek.com/v1', 'deepseek-chat'),
    name: 'deepseek/deepseek-chat',
    usage: usageOf(1300, 210, { cached_input_tokens: 1024 }),
  },
  {
    answer: 'mistral',
    model: at('https://api.mistral.ai/v1', 'mistral-large-latest'),
    name: 'mistral/mistral-large-latest',
    usage: usageOf(77, 33),
  },
  {
    // xAI counts reasoning beside the completion.
    answer: 'xai',
    model: at('https://api.x.ai/v1', 'grok-3-mini'),
    name: 'xai/grok-3-mini',
    usage: usageOf(32, 103, { cached_input_tokens: 6, reasoning_tokens: 94 }),
  },
  {
    answer: 'groq',
    model: at('https://api.groq.com/openai/v1', 'openai/gpt-oss-120b'),
    name: 'groq/openai/gpt-oss-120b',
    usage: usageOf(1540, 184, { cached_input_tokens: 1280, reasoning_tokens: 130 }),
  },
]

const answers = new URL('../fixtures/model-calls/', import.meta.url)

/** What sends every request of a provider to a server on this machine, which gives the recorded answer. */
export async function openRecorded({ answer }: RecordedCall) {
  const body = readFileSync(new URL(`${answer}.sse`, answers), 'utf8')
  const endpoint = await openEndpoint((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(body)
  })
  const fetch: typeof globalThis.fetch = (input, init) => {
    const { pathname, search } = new URL(String(input))
    return globalThis.fetch(`${endpoint.origin}${pathname}${search}`, init)
  }
  return { endpoint, fetch, [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose]() }
}

/** The model of a call for an agent. Provider packages read their keys from the environment: set `keyVariables` before. */
export async function modelOf({ model, name }: RecordedCall, fetch: typeof globalThis.fetch): Promise<ModelObject> {
  if (model === 'chat of @ai-sdk/openai') return createOpenAI({ apiKey, fetch }).chat('gpt-4o')
  const resolved = await resolveModel(model, { fetch })
  if (typeof model === 'string') return resolved
  // With its setting an agent would send its requests to the provider; without it it does not know the address.
  const [providerId] = splitModelName(name)
  return wrapLanguageModel({
    model: resolved as Parameters<typeof wrapLanguageModel>[0]['model'],
    middleware: {},
    providerId,
  })
}

export const keyVariables = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']
