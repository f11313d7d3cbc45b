import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '../../core/error.ts'
import type { Embedder, Embedding } from '../../core/knowledge-drivers.ts'
import { normalised } from './lexical.ts'

export interface OpenAiOptions {
  /** With its version: `https://…/v1`. */
  baseUrl: string
  apiKey: string | undefined
  embedding: Embedding
  timeoutMs?: number
  /** The pause before the first retry; doubles with each. */
  retryDelayMs?: number
}

const batchSize = 64
const attempts = 4
const maxAnswerBytes = 64 * 1024 * 1024

/** Any endpoint with OpenAI's `POST /embeddings`. 429 and 5xx are tried again; the key never appears in an error. */
export function openAiEmbedder(options: OpenAiOptions): Embedder {
  const embedTexts = async (texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = []
    for (let at = 0; at < texts.length; at += batchSize)
      vectors.push(...(await embedBatch(options, texts.slice(at, at + batchSize), signal)))
    return vectors
  }
  return {
    embedding: options.embedding,
    embedTexts,
    embedQuery: async (query, _frequencies, signal) => (await embedTexts([query], signal))[0] ?? new Float32Array(0),
    close: async () => {},
  }
}

/** Asks the endpoint once how many dimensions its vectors have. */
export async function measureDimensions(options: Omit<OpenAiOptions, 'embedding'>, model: string): Promise<number> {
  const embedding = { provider: 'openai', model, dimensions: 0 }
  const [vector] = await embedBatch({ ...options, embedding }, ['dimensions'])
  return vector?.length ?? 0
}

async function embedBatch(options: OpenAiOptions, input: string[], signal?: AbortSignal): Promise<Float32Array[]> {
  for (let attempt = 1; ; attempt++) {
    const answer = await ask(options, input, signal)
    if (answer.status === 200) return vectorsOf(answer.body, input.length, options.embedding.dimensions)
    const retryable = answer.status === 429 || answer.status >= 500 || answer.status === 0
    if (!retryable || attempt === attempts) throw failure(options, answer.status)
    const delay = Math.min(30_000, answer.retryAfterMs ?? (options.retryDelayMs ?? 500) * 2 ** (attempt - 1))
    await wait(delay, undefined, { signal })
  }
}

async function ask(
  options: OpenAiOptions,
  input: string[],
  signal: AbortSignal | undefined,
): Promise<{ status: number; body: unknown; retryAfterMs: number | undefined }> {
  const { request } = await import('undici')
  const timeout = options.timeoutMs ?? 60_000
  try {
    const { statusCode, headers, body } = await request(`${options.baseUrl.replace(/\/+$/, '')}/embeddings`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
      },
      body: JSON.stringify({ model: options.embedding.model, input, encoding_format: 'float' }),
      headersTimeout: timeout,
      bodyTimeout: timeout,
      signal: signal ?? null,
    })
    const seconds = Number(headers['retry-after'])
    const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined
    if (statusCode !== 200) {
      await body.dump()
      return { status: statusCode, body: undefined, retryAfterMs }
    }
    let bytes = 0
    const parts: Buffer[] = []
    for await (const part of body) {
      bytes += part.length
      if (bytes > maxAnswerBytes) throw new Error('the answer is too long')
      parts.push(part)
    }
    return { status: 200, body: JSON.parse(Buffer.concat(parts).toString('utf8')), retryAfterMs }
  } catch (error) {
    if (signal?.aborted) throw error
    return { status: 0, body: undefined, retryAfterMs: undefined }
  }
}

function vectorsOf(body: unknown, count: number, dimensions: number): Float32Array[] {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined
  const vectors: Float32Array[] = []
  for (const entry of Array.isArray(data) ? data : []) {
    const { index, embedding } = entry as { index?: unknown; embedding?: unknown }
    if (typeof index !== 'number' || !Array.isArray(embedding)) continue
    if (embedding.length === 0 || !embedding.every((value) => Number.isFinite(value))) continue
    if (dimensions > 0 && embedding.length !== dimensions)
      throw new AppError(
        'unavailable',
        `The embedding endpoint now gives ${embedding.length} dimensions, not ${dimensions}.`,
      )
    vectors[index] = normalised(Float32Array.from(embedding as number[]))
  }
  if (vectors.length !== count || vectors.includes(undefined as never))
    throw new AppError('unavailable', 'The embedding endpoint did not give one vector for each text.')
  return vectors
}

function failure(options: OpenAiOptions, status: number): AppError {
  const address = new URL(options.baseUrl)
  const said = status === 0 ? 'could not be reached or did not answer in time' : `answered ${status}`
  return new AppError('unavailable', `The embedding endpoint at ${address.origin} ${said}.`)
}
