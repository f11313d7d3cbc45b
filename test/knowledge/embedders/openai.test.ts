import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { openAiEmbedder } from '../../../src/knowledge/embedders/openai.ts'

interface Step {
  status: number
  headers?: Record<string, string>
  body?: string
}

describe('the openai embedder', () => {
  const servers: Server[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve).closeAllConnections())
  })
  /** Answers with the steps first, then with vectors; `silent` never answers. */
  const endpoint = async (steps: Step[] = [], { silent = false } = {}) => {
    const seen = { inputs: [] as string[][], atOnce: 0, most: 0 }
    const server = createServer(async (request, response) => {
      seen.most = Math.max(seen.most, ++seen.atOnce)
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part)
      const { input } = JSON.parse(Buffer.concat(parts).toString()) as { input: string[] }
      seen.inputs.push(input)
      seen.atOnce--
      if (silent) return
      const step = steps.shift()
      if (step) return void response.writeHead(step.status, step.headers).end(step.body)
      response.end(JSON.stringify({ data: input.map((text, index) => ({ index, embedding: [text.length, 1] })) }))
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    const embedder = openAiEmbedder({
      baseUrl,
      apiKey: 'sk-canary',
      embedding: { provider: 'openai', model: 'length', dimensions: 2 },
      retryDelayMs: 1,
      timeoutMs: 300,
    })
    return { seen, embedder }
  }

  it('sends no more texts and characters in one request than endpoints take, and no empty text', async () => {
    const { seen, embedder } = await endpoint()
    const texts = [...Array<string>(100).fill('word'), ...Array<string>(4).fill('x'.repeat(100_000)), '']
    const vectors = await embedder.embedTexts(texts)
    expect(vectors).toHaveLength(105)
    expect(seen.inputs.map((input) => input.length)).toEqual([64, 38, 3])
    expect(seen.inputs.flat()).toEqual(texts.map((text) => text || ' '))
    for (const input of seen.inputs) {
      expect(input.length).toBeLessThanOrEqual(64)
      expect(input.join('').length).toBeLessThanOrEqual(256_000)
    }
  })

  it('asks with few requests at once, however many documents are embedded', async () => {
    const { seen, embedder } = await endpoint()
    await Promise.all(Array.from({ length: 30 }, (_, at) => embedder.embedTexts([`text ${at}`])))
    expect(seen.inputs).toHaveLength(30)
    expect(seen.most).toBeLessThanOrEqual(4)
  })

  it('waits as long as it is asked to, in seconds or until a date', async () => {
    const date = new Date(Date.now() - 5_000).toUTCString()
    const { seen, embedder } = await endpoint([
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 503, headers: { 'retry-after': date } },
      { status: 500 },
      { status: 200, body: 'not JSON' },
    ])
    expect(await embedder.embedTexts(['abc'])).toHaveLength(1)
    expect(seen.inputs).toHaveLength(5)
  })

  it('can be stopped while it waits', async () => {
    const { embedder } = await endpoint([{ status: 429, headers: { 'retry-after': '60' } }])
    const stop = new AbortController()
    const embedding = embedder.embedTexts(['abc'], stop.signal)
    setImmediate(() => stop.abort())
    await expect(embedding).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('says what the endpoint says, without the key', async () => {
    const body = JSON.stringify({ error: { message: 'Incorrect API key provided: sk-canary, or sk-ca***ry.' } })
    const { seen, embedder } = await endpoint([{ status: 401, body }])
    const failed = await embedder.embedTexts(['abc']).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('answered 401 (Incorrect API key provided: …'),
    })
    expect(String(failed)).not.toMatch(/canary|sk-ca/)
    expect(seen.inputs).toHaveLength(1)
  })

  it('gives up on an endpoint that never answers', async () => {
    const { seen, embedder } = await endpoint([], { silent: true })
    await expect(embedder.embedTexts(['abc'])).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('did not answer in time'),
    })
    expect(seen.inputs).toHaveLength(6)
  })

  it('refuses vectors that are too few or of another length', async () => {
    const answers = [[], [{ index: 0, embedding: [1, 2, 3] }], [{ index: 0, embedding: [1, 'x'] }]]
    for (const data of answers) {
      const { embedder } = await endpoint([{ status: 200, body: JSON.stringify({ data }) }])
      await expect(embedder.embedTexts(['abc'])).rejects.toMatchObject({ code: 'unavailable' })
    }
  })
})
