import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveModel } from '../../src/models/resolve.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { collect } from '../runnables/fixture.ts'
import { chunk, openEndpoint, refuse, streamWords } from './endpoint.ts'

describe('an OpenAI-compatible endpoint', () => {
  it('streams an answer, with the key in the header only', async () => {
    await using endpoint = await openEndpoint((response) => streamWords(response, 'Hel', 'lo'))
    const model = { baseURL: endpoint.baseURL, model: 'qwen3:8b', apiKey: 'sk-secret-secret-1234' }
    const { text, of, error, events } = await collect(agent({ model, instructions: 'Be kind.' }), 'Hi')
    expect(error).toBeUndefined()
    expect(text).toBe('Hello')
    expect(of('model_call_end')[0]?.usage).toEqual({ input_tokens: 5, output_tokens: 2, total_tokens: 7 })
    expect(endpoint.requests).toMatchObject([
      {
        path: '/v1/chat/completions',
        authorization: 'Bearer sk-secret-secret-1234',
        body: { model: 'qwen3:8b', stream: true },
      },
    ])
    expect(JSON.stringify(events)).not.toContain('secret')
  })

  it('is found by ollama/… through OLLAMA_HOST', async () => {
    await using endpoint = await openEndpoint((response) => streamWords(response, 'ok'))
    const model = await resolveModel('ollama/library/qwen3:8b', {
      env: { OLLAMA_HOST: endpoint.origin.slice('http://'.length) },
    })
    expect((await collect(agent({ model }), 'Hi')).text).toBe('ok')
    expect(endpoint.requests[0]?.body.model).toBe('library/qwen3:8b')
  })

  it('fails the run with what the endpoint said, and never with the key', async () => {
    await using endpoint = await openEndpoint((response) => refuse(response, 401, 'Wrong key: my-own-key'))
    const model = { baseURL: endpoint.baseURL, model: 'm', apiKey: 'my-own-key' }
    const { error, types } = await collect(agent({ model }), 'Hi')
    expect(types).toEqual(['model_call_start', 'model_call_end'])
    expect(error).toMatchObject({
      code: 'run_failed',
      message: "The model 'compatible/m' failed (status 401): Wrong key: ***",
    })
    expect(endpoint.requests).toHaveLength(1)
  })

  it('fails the run on a 500', async () => {
    await using endpoint = await openEndpoint((response) => refuse(response, 500, 'model crashed'))
    const { error } = await collect(agent({ model: { baseURL: endpoint.baseURL, model: 'm' }, maxRetries: 0 }), 'Hi')
    expect(error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('(status 500): model crashed') })
  })

  it('keeps what was streamed and fails the run when the connection breaks', async () => {
    await using endpoint = await openEndpoint((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ content: 'Half' }), () => response.destroy())
    })
    const { error, text } = await collect(
      agent({ model: { baseURL: endpoint.baseURL, model: 'm' }, maxRetries: 0 }),
      'Hi',
    )
    expect(text).toBe('Half')
    expect(error).toMatchObject({
      code: 'run_failed',
      message: expect.stringMatching(/^The model 'compatible\/m' failed: .*terminated/),
    })
  })

  it('fails the run when the stream ends without its end', async () => {
    await using endpoint = await openEndpoint((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(chunk({ content: 'Half' }))
    })
    const { error, text } = await collect(agent({ model: { baseURL: endpoint.baseURL, model: 'm' } }), 'Hi')
    expect(text).toBe('Half')
    const message = "The model 'compatible/m' failed: Response stream ended without a finish reason."
    expect(error).toMatchObject({ code: 'run_failed', message })
  })

  it('says where nobody answers', async () => {
    const endpoint = await openEndpoint(() => {})
    await endpoint[Symbol.asyncDispose]()
    const { error } = await collect(agent({ model: { baseURL: endpoint.baseURL, model: 'm' }, maxRetries: 0 }), 'Hi')
    expect(error).toMatchObject({ code: 'run_failed', message: expect.stringContaining('ECONNREFUSED') })
  })
})

describe('model names', () => {
  it("come from the package in the user's project", async () => {
    const root = await mkdtemp(join(tmpdir(), 'agentserve-'))
    try {
      await expect(resolveModel('openai/gpt-5', { root })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('npm install @ai-sdk/openai'),
      })
      const folder = join(root, 'node_modules/@ai-sdk/openai')
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'package.json'), '{"name":"@ai-sdk/openai","type":"module","exports":"./index.js"}')
      await writeFile(
        join(folder, 'index.js'),
        `export const createOpenAI = () => Object.assign((modelId) => ({ modelId, provider: 'openai' }), {
          chat: (modelId) => ({ modelId, provider: 'openai.chat' }),
        })`,
      )
      expect(await resolveModel('openai/gpt-5/mini', { root })).toMatchObject({ modelId: 'gpt-5/mini' })
      const at = async (OPENAI_BASE_URL: string) => resolveModel('openai/m', { root, env: { OPENAI_BASE_URL } })
      expect(await at('https://api.openai.com/v1')).toMatchObject({ provider: 'openai' })
      expect(await at('http://127.0.0.1:8000/v1')).toMatchObject({ provider: 'openai.chat' })
    } finally {
      await rm(root, { recursive: true })
    }
  })

  it.each(['gpt-5', 'mistral/large', 'ollama/', '/x', ''])("does not take '%s' for a model", async (name) => {
    await expect(resolveModel(name as 'a/b')).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'model' }],
    })
  })

  it.each([
    [null],
    [5],
    [{ baseURL: 'ftp://x', model: 'm' }],
    [{ baseURL: 'http://x' }],
    [{ baseURL: 'http://x', model: 'm', key: 'k' }],
  ])('does not take %j for a model', async (value) => {
    await expect(resolveModel(value as never)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
