import { AppError } from '../../core/error.ts'
import type { Embedder, Embedding } from '../../core/knowledge/drivers.ts'
import { retryAfterMs } from '../../runtime/retry-after.ts'
import { normalised } from './lexical.ts'
import { createGate, type Gate } from './request-gate.ts'

export interface OpenAiOptions {
  /** With its version: `https://…/v1`. */
  baseUrl: string
  apiKey: string | undefined
  embedding: Embedding
  timeoutMs?: number
  /** The pause before the first retry; doubles with each. */
  retryDelayMs?: number
}

const maxBatchTexts = 64
/** Some 64,000 tokens: endpoints refuse requests of several 100,000. */
const maxBatchCharacters = 256_000
const requestsAtOnce = 4
const attempts = 6
const longestPauseMs = 60_000
const maxAnswerBytes = 64 * 1024 * 1024

/**
 * Any endpoint with OpenAI's `POST /embeddings`. 429, 5xx and broken connections are retried after the endpoint's
 * `Retry-After`; all other requests wait too. The key never appears in an error.
 */
export function openAiEmbedder(options: OpenAiOptions): Embedder {
  const gate = createGate(requestsAtOnce)
  const embedTexts = async (texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> => {
    const vectors: Float32Array[] = []
    for (const batch of batchesOf(texts))
      vectors.push(...(await gate.pass(() => embedBatch(options, gate, batch, signal), signal)))
    return vectors
  }
  return {
    embedding: options.embedding,
    embedTexts,
    embedQuery: async (query, _frequencies, signal) => (await embedTexts([query], signal))[0] ?? new Float32Array(0),
    close: async () => {},
  }
}

/** Asks the endpoint for the number of dimensions of its vectors. */
export async function measureDimensions(options: Omit<OpenAiOptions, 'embedding'>, model: string): Promise<number> {
  const embedding = { provider: 'openai', model, dimensions: 0 }
  const [vector] = await embedBatch({ ...options, embedding }, createGate(requestsAtOnce), ['dimensions'])
  return vector?.length ?? 0
}

function* batchesOf(texts: readonly string[]): Generator<string[]> {
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    if (batch.length === maxBatchTexts || (batch.length > 0 && characters + text.length > maxBatchCharacters)) {
      yield batch
      batch = []
      characters = 0
    }
    // Endpoints refuse an empty text; a space has no meaning either.
    batch.push(text === '' ? ' ' : text)
    characters += text.length
  }
  if (batch.length > 0) yield batch
}

async function embedBatch(
  options: OpenAiOptions,
  gate: Gate,
  input: string[],
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  for (let attempt = 1; ; attempt++) {
    await gate.opened(signal)
    const answer = await ask(options, input, signal)
    if (answer.status === 200) return vectorsOf(answer.body, input.length, options.embedding.dimensions)
    const retryable = answer.status === 0 || answer.status === 408 || answer.status === 429 || answer.status >= 500
    if (!retryable || attempt === attempts) throw failure(options, answer)
    const backoff = (options.retryDelayMs ?? 500) * 2 ** (attempt - 1) * (1 + Math.random() / 4)
    gate.pauseFor(Math.min(longestPauseMs, answer.retryAfterMs ?? backoff))
  }
}

interface Answer {
  /** 0 without a response. */
  status: number
  body: unknown
  retryAfterMs: number | undefined
}

async function ask(options: OpenAiOptions, input: string[], signal: AbortSignal | undefined): Promise<Answer> {
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
    let bytes = 0
    const parts: Buffer[] = []
    for await (const part of body) {
      bytes += part.length
      if (bytes > maxAnswerBytes) throw new Error('the answer is too long')
      parts.push(part)
    }
    const text = Buffer.concat(parts).toString('utf8')
    const parsed: unknown = statusCode === 200 ? JSON.parse(text) : tryParse(text)
    return { status: statusCode, body: parsed, retryAfterMs: retryAfterMs(headers['retry-after']) }
  } catch (error) {
    if (signal?.aborted) throw error
    return { status: 0, body: undefined, retryAfterMs: undefined }
  }
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
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
        `The embedding endpoint now returns ${embedding.length} dimensions, not ${dimensions}.`,
      )
    vectors[index] = normalised(Float32Array.from(embedding as number[]))
  }
  if (vectors.length !== count || vectors.includes(undefined as never))
    throw new AppError('unavailable', 'The embedding endpoint did not return one vector per text.')
  return vectors
}

function failure(options: OpenAiOptions, { status, body }: Answer): AppError {
  const address = new URL(options.baseUrl)
  const said = status === 0 ? 'could not be reached or did not answer in time' : `answered ${status}`
  const reason = reasonIn(body, options.apiKey)
  return new AppError('unavailable', `The embedding endpoint at ${address.origin} ${said}${reason}.`)
}

/** The endpoint's own message, without the key that it may repeat. */
function reasonIn(body: unknown, apiKey: string | undefined): string {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  if (typeof message !== 'string' || message.trim() === '') return ''
  const shown = apiKey === undefined ? message : message.replaceAll(apiKey, '…')
  return ` (${shown
    .replace(/\bsk-\S+/g, '…')
    .replace(/\s+/g, ' ')
    .slice(0, 200)})`
}
