import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { ModelSetting } from '../../src/core/model.ts'
import { createOutgoingFetch, outgoingLimits } from '../../src/models/outgoing.ts'
import { reachModel } from '../../src/models/reach.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
})

async function listen(handle: RequestListener): Promise<string> {
  server = createServer(handle)
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const fetch = createOutgoingFetch(outgoingLimits)
const reach = (setting: ModelSetting, env = {}, signal = AbortSignal.timeout(5_000)) =>
  reachModel(setting, { env, fetch, signal })

const answer =
  (body: unknown, status = 200): RequestListener =>
  (request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? ''}`.trim())
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  }
const asked: string[] = []

it('is content with a model that Ollama lists, also under its usual tag', async () => {
  const env = { OLLAMA_HOST: await listen(answer({ models: [{ name: 'qwen3:8b' }, { name: 'phi4:latest' }] })) }
  expect(await reach('ollama/qwen3:8b', env)).toBeUndefined()
  expect(await reach('ollama/phi4', env)).toBeUndefined()
  expect(await reach('ollama/llama4', env)).toEqual({
    problem: "Ollama does not have 'llama4'",
    fix: 'ollama pull llama4',
  })
})

it('says that nothing is there, and how to start it', async () => {
  expect(await reach('ollama/qwen3:8b', { OLLAMA_HOST: '127.0.0.1:1' })).toEqual({
    problem: 'Ollama is not running at http://127.0.0.1:1',
    fix: 'start it: ollama serve',
  })
})

it('asks an address of this machine with its key, and names what it has', async () => {
  const url = await listen(answer({ data: [{ id: 'one' }, { id: 'two' }] }))
  asked.length = 0
  expect(await reach({ baseURL: `${url}/v1/`, model: 'two', apiKey: 'k' })).toBeUndefined()
  expect(asked).toEqual(['/v1/models Bearer k'])
  expect(await reach({ baseURL: `${url}/v1`, model: 'three' })).toEqual({
    problem: `the model server at ${new URL(url).host} does not have 'three'`,
    fix: 'use one that it has: one, two',
  })
})

it('says that a key is refused', async () => {
  const url = await listen(answer({}, 401))
  expect(await reach({ baseURL: url, model: 'x' })).toMatchObject({ fix: 'set the `apiKey` of the model' })
})

it.each<[string, unknown, number]>([
  ['no such route', { error: 'x' }, 404],
  ['no JSON', '<html>', 200],
  ['null', null, 200],
  ['no list', { data: 1 }, 200],
  ['an endless list', `{"data":[${'1,'.repeat(3_000_000)}`, 200],
])('says nothing when the server answers with %s', async (_, body, status) => {
  expect(await reach({ baseURL: await listen(answer(body, status)), model: 'x' })).toBeUndefined()
})

it('says that a server is silent, and throws only when it is told to stop', async () => {
  const url = await listen(() => {})
  const late = AbortSignal.timeout(50)
  expect(await reach({ baseURL: url, model: 'x' }, {}, late)).toMatchObject({
    problem: expect.stringContaining('does not answer'),
  })
  const stop = new AbortController()
  const reaching = reach({ baseURL: url, model: 'x' }, {}, stop.signal)
  stop.abort()
  await expect(reaching).rejects.toThrow()
})

it('asks no other machine and no model object', async () => {
  const none = { fetch: () => Promise.reject(new Error('asked')), env: {}, signal: AbortSignal.timeout(5_000) }
  expect(await reachModel({ baseURL: 'https://api.example.com/v1', model: 'x' }, none)).toBeUndefined()
  expect(await reachModel('openai/x', none)).toBeUndefined()
  expect(await reachModel('ollama/x', { ...none, env: { OLLAMA_HOST: '10.0.0.1' } })).toBeUndefined()
})
