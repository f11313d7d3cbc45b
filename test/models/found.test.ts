import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findModels } from '../../src/models/found.ts'

/** Answers on the paths that it has lists for; asked for any other it says nothing at all. */
const lists: Record<string, unknown> = {}
const server = createServer((request, response) => {
  const list = lists[request.url ?? '']
  if (list !== undefined) response.end(typeof list === 'string' ? list : JSON.stringify(list))
})
let origin: string
let empty: string
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  empty = await mkdtemp(join(tmpdir(), 'agentserve-'))
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(empty, { recursive: true })
})

/** LM Studio's address is fixed, so its requests are sent to the server of the test. */
const redirect: typeof fetch = (input, init) => fetch(String(input).replace('http://127.0.0.1:1234', origin), init)
const find = (env: Record<string, string>, root = process.cwd()) =>
  findModels({ env: { OLLAMA_HOST: origin, ...env }, root, fetch: redirect, patienceMs: 200 })

test('says which keys are set, what to write and what to install, and never the key', async () => {
  const found = await find({ OPENAI_API_KEY: 'sk-1', GOOGLE_GENERATIVE_AI_API_KEY: 'AI-2', ANTHROPIC_API_KEY: '' })
  expect(found).toEqual([
    { evidence: 'OPENAI_API_KEY is set', write: expect.stringMatching(/^model: 'openai\/.+'$/), install: undefined },
    {
      evidence: 'GOOGLE_GENERATIVE_AI_API_KEY is set',
      write: expect.stringMatching(/^model: 'google\/.+'$/),
      install: undefined,
    },
  ])
  const elsewhere = await find({ ANTHROPIC_API_KEY: 'k' }, empty)
  expect(elsewhere).toMatchObject([{ install: 'npm install @ai-sdk/anthropic' }])
})

test('asks Ollama and LM Studio on this machine for a model that can answer', async () => {
  lists['/api/tags'] = { models: [{ name: 'nomic-embed-text:latest' }, { name: 'qwen3:8b' }] }
  lists['/v1/models'] = { data: [{ id: 'text-embedding-nomic' }, { id: 'qwen3-8b' }] }
  expect(await find({})).toEqual([
    { evidence: `Ollama at ${origin} has qwen3:8b`, write: "model: 'ollama/qwen3:8b'", install: undefined },
    {
      evidence: 'LM Studio at http://127.0.0.1:1234 has qwen3-8b',
      write: "model: 'lmstudio/qwen3-8b'",
      install: undefined,
    },
  ])
})

test.each([['nonsense'], [{}], [{ models: [] }], [{ models: [{ name: 5 }] }], [null]])(
  'finds nothing in %j',
  async (list) => {
    lists['/api/tags'] = list
    lists['/v1/models'] = list
    expect(await find({})).toEqual([])
  },
)

test('does not wait for a server that says nothing', async () => {
  delete lists['/api/tags']
  delete lists['/v1/models']
  expect(await find({})).toEqual([])
})
