import type { ServerResponse } from 'node:http'
import { createOpenAI } from '@ai-sdk/openai'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ModelSetting } from '../../src/core/model.ts'
import { createOutgoingFetch, outgoingLimits } from '../../src/models/outgoing.ts'
import { resolveModel } from '../../src/models/resolve.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { eventsOf, serveAgents } from '../runnables/agent-server.ts'
import { weather } from '../runnables/weather.ts'
import { type Dialect, dialects } from './dialects.ts'
import { type Endpoint, openEndpoint } from './endpoint.ts'

const key = 'key-of-nobody-0123456789'
const slowMs = 300
const quickFetch = createOutgoingFetch({ ...outgoingLimits, headersTimeoutMs: slowMs, bodyTimeoutMs: slowMs })

const models: Record<
  keyof typeof dialects,
  (endpoint: Endpoint, fetch?: typeof quickFetch) => ModelSetting | Promise<ModelSetting>
> = {
  responses: ({ baseURL }, fetch) => createOpenAI({ baseURL, apiKey: key, ...(fetch && { fetch }) }).responses('m'),
  // OPENAI_BASE_URL is not OpenAI's own address.
  chat: (_endpoint, fetch) => (fetch === undefined ? 'openai/m' : resolveModel('openai/m', { fetch })),
  anthropic: (_endpoint, fetch) => (fetch === undefined ? 'anthropic/m' : resolveModel('anthropic/m', { fetch })),
  // The package takes its address from nowhere but its settings.
  google: ({ origin }, fetch = createOutgoingFetch(outgoingLimits)) =>
    resolveModel('google/m', {
      fetch: (input, init) => fetch(String(input).replace('https://generativelanguage.googleapis.com', origin), init),
    }),
  compatible: ({ baseURL }, fetch) => {
    const model = { baseURL, model: 'm', apiKey: key }
    return fetch === undefined ? model : resolveModel(model, { fetch })
  },
}

function send(response: ServerResponse, pieces: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const piece of pieces) response.write(piece)
  response.end()
}

/** The beginning of an answer, until its first word. */
function half(dialect: Dialect): string[] {
  const pieces = dialect.words('Half', ' gone')
  return pieces.slice(0, pieces.findIndex((piece) => piece.includes('Half')) + 1)
}

function refuse(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

describe.each(Object.entries(dialects) as [keyof typeof dialects, Dialect][])('%s', (id, dialect) => {
  let respond: Parameters<typeof openEndpoint>[0]
  let endpoint: Endpoint

  beforeEach(async () => {
    endpoint = await openEndpoint((...request) => respond(...request))
    vi.stubEnv('OPENAI_BASE_URL', endpoint.baseURL)
    vi.stubEnv('ANTHROPIC_BASE_URL', endpoint.baseURL)
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']) vi.stubEnv(name, key)
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await endpoint[Symbol.asyncDispose]()
  })

  /** Asks an agent with the provider's model, behind the real server, for a streamed answer. */
  async function ask(settings: Parameters<typeof agent>[0] = {}, fetch?: typeof quickFetch) {
    await using server = await serveAgents({
      helper: agent({ model: await models[id](endpoint, fetch), maxOutputTokens: 1_000, ...settings }),
    })
    const { streamed, text } = await server.ask('helper', 'Hi', { stream: true })
    const answer = eventsOf(streamed, 'text_delta').map((event) => event.text)
    return { events: streamed, answer, text, error: eventsOf(streamed, 'run_error')[0]?.error }
  }

  test('streams word by word, counts tokens, and keeps the key to itself', async () => {
    respond = (response) => send(response, dialect.words('Hel', 'lo'))
    const { answer, events, text } = await ask({ instructions: 'Be kind.' })
    expect(answer).toEqual(['Hel', 'lo'])
    const usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }
    expect(eventsOf(events, 'model_call_end')).toMatchObject([{ usage, finish_reason: 'stop' }])
    expect(endpoint.requests).toHaveLength(1)
    const [request] = endpoint.requests
    expect(request?.path).toBe(dialect.path)
    expect(request?.headers[dialect.key[0]]).toBe(dialect.key[1] + key)
    expect(JSON.stringify(request?.body)).toContain('Be kind.')
    expect(text).not.toContain(key)
  })

  test('calls tools and goes on with what they gave', async () => {
    respond = (response, _body, count) =>
      send(response, count === 1 ? dialect.toolCall('weather', { city: 'Bern' }) : dialect.words('21', ' degrees'))
    const { answer, events } = await ask({ tools: { weather } })
    expect(answer.join('')).toBe('21 degrees')
    expect(eventsOf(events, 'tool_call')).toMatchObject([{ name: 'weather', input: { city: 'Bern' } }])
    expect(eventsOf(events, 'tool_result')).toMatchObject([{ output: { city: 'Bern', degrees: 21 } }])
    expect(JSON.stringify(endpoint.requests[1]?.body)).toContain('degrees')
  })

  test('a wrong key fails the run at once with what the provider says, the key hidden', async () => {
    respond = (response) => refuse(response, 401, dialect.error(`Wrong key: ${key}`))
    const { error, text } = await ask()
    expect(error).toMatchObject({
      code: 'run_failed',
      message: expect.stringMatching(/\(status 401\): Wrong key: \*\*\*/),
    })
    expect(endpoint.requests).toHaveLength(1)
    expect(text).not.toContain(key)
  })

  test('too many requests are tried again when the provider says, and so are its own failures', async () => {
    respond = (response, _body, count) => {
      if (count === 1) refuse(response, 429, dialect.error('Slow down'), { 'retry-after': '0' })
      else if (count === 2) refuse(response, 503, dialect.error('Overloaded'), { 'retry-after-ms': '1' })
      else send(response, dialect.words('at ', 'last'))
    }
    expect((await ask()).answer.join('')).toBe('at last')
    expect(endpoint.requests).toHaveLength(3)
  })

  test('a provider that goes on failing is given up after as many tries as are set', async () => {
    respond = (response) => refuse(response, 500, dialect.error('Out of order'), { 'retry-after': '0' })
    const { error } = await ask({ maxRetries: 1 })
    expect(error?.message).toMatch(/\(status 500\): Out of order/)
    expect(endpoint.requests).toHaveLength(2)
  })

  test('what was streamed before the connection broke is kept, and the run fails', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(half(dialect).join(''), () => response.destroy())
    }
    const { answer, error } = await ask()
    expect(answer).toEqual(['Half'])
    expect(error).toMatchObject({ code: 'run_failed', message: expect.stringMatching(/failed: .*terminated/) })
  })

  test('a failure told in the stream fails the run with what it says', async () => {
    respond = (response) => {
      send(response, [...half(dialect), dialect.failure('Out of memory')])
    }
    const { answer, error } = await ask()
    expect(answer).toEqual(['Half'])
    expect(error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('Out of memory') })
  })

  test('a stream that ends too early fails the run', async () => {
    respond = (response) => send(response, half(dialect))
    const { answer, error } = await ask()
    expect(answer).toEqual(['Half'])
    expect(error?.code).toBe('run_failed')
  })

  test('a model that gives no answer in its time fails the run, and is not asked again', async () => {
    respond = () => {}
    const { error } = await ask({}, quickFetch)
    expect(error?.message).toMatch(/did not answer within 0.3 s/)
    expect(endpoint.requests).toHaveLength(1)
  })

  test('a run that is cancelled lets go of the provider, before the answer and in it', async () => {
    for (const first of [[], half(dialect)]) {
      const asked = Promise.withResolvers<void>()
      const left = Promise.withResolvers<void>()
      respond = (response) => {
        response.on('close', left.resolve)
        if (first.length > 0) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first.join(''))
        asked.resolve()
      }
      await using server = await serveAgents({ helper: agent({ model: await models[id](endpoint) }) })
      const { json } = await server.ask('helper', 'Hi', { background: true })
      await asked.promise
      await server.call('POST', `/api/v1/runs/${json.run_id}/cancel`)
      await left.promise
      const [end] = eventsOf(await server.events(json.run_id), 'run_end')
      expect(end).toMatchObject({ status: 'cancelled', cancellation_reason: 'requested' })
    }
  })

  test("the agent's own limit stops a model that is slow", async () => {
    respond = () => {}
    const { error } = await ask({ timeout: { stepMs: 50 } })
    expect(error?.message).toMatch(/took longer|stopped/)
  })
})
