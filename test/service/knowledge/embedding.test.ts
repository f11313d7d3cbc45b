import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'
import { tinyModelFiles, tinyModelName, writeTinyModel } from '../../support/knowledge/tiny-model.ts'

/** An OpenAI-compatible endpoint whose vectors count letters; `script` says which statuses come first. */
function endpoint(script: number[] = []) {
  const seen: { authorization: string | undefined; inputs: number; model: string }[] = []
  const server: Server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body = JSON.parse(Buffer.concat(parts).toString()) as { input: string[]; model: string }
    seen.push({ authorization: request.headers.authorization, inputs: body.input.length, model: body.model })
    const status = script.shift() ?? 200
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' })
    const data = body.input.map((text, index) => ({
      index,
      embedding: [...'abcdefgh'].map((letter) => text.split(letter).length - 1 + 0.01),
    }))
    response.end(status === 200 ? JSON.stringify({ data: data.reverse() }) : '{"error":"no"}')
  })
  return {
    seen,
    listen: () =>
      new Promise<string>((resolve) =>
        server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`)),
      ),
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

describe('the embedder of a collection', () => {
  let place: KnowledgeFolder
  const closers: (() => Promise<unknown>)[] = []
  beforeEach(async () => {
    place = await knowledgeFolder()
  })
  afterEach(async () => {
    await place.remove()
    for (const close of closers.splice(0)) await close()
  })
  const listen = async (script?: number[]) => {
    const service = endpoint(script)
    closers.push(service.close)
    return { ...service, baseUrl: await service.listen() }
  }

  it('may be any OpenAI-compatible endpoint, which is asked again when it is busy', async () => {
    const service = await listen([429, 503])
    const knowledge = await place.open({
      embedding: { provider: 'openai', baseUrl: service.baseUrl, apiKey: 'sk-canary', model: 'letters' },
    })
    await knowledge.ingest({ content: 'aaaa bbbb', source: 'ab' })
    await knowledge.ingest({ content: 'gggg hhhh', source: 'gh' })
    const { results } = await knowledge.search({ query: 'h', mode: 'vector', limit: 1 })
    expect(results[0]?.source).toBe('gh')
    expect(service.seen.every((each) => each.authorization === 'Bearer sk-canary' && each.model === 'letters')).toBe(
      true,
    )
    const described = await knowledge.config()
    expect(described.embedding_model).toEqual({ provider: 'openai', model: 'letters', dimensions: 8 })
    expect(JSON.stringify(described)).not.toContain('canary')
  })

  it('that refuses leaves nothing half stored and keeps its key to itself', async () => {
    const service = await listen([200, 401])
    const knowledge = await place.open({
      embedding: { provider: 'openai', baseUrl: service.baseUrl, apiKey: 'sk-canary', model: 'letters' },
    })
    const failed = await knowledge.ingest({ content: 'aaaa', source: 'a' }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'unavailable', message: expect.stringContaining('401') })
    expect(String(failed)).not.toContain('canary')
    expect(await knowledge.status()).toMatchObject({ documents: 0, chunks: 0, vectors: 0 })
  })

  it('is remembered: another one in the configuration is an error that says the action', async () => {
    const first = await place.open()
    await first.ingest({ content: 'some text', source: 's' })
    await first.close()
    const service = await listen()
    const embedding = { provider: 'openai' as const, baseUrl: service.baseUrl, model: 'letters' }
    const second = await place.open({ embedding })
    const mismatch = expect.objectContaining({
      code: 'conflict',
      message: expect.stringContaining('agentserve knowledge reindex --embedder openai'),
    })
    await expect(second.search({ query: 'text' })).rejects.toEqual(mismatch)
    await expect(second.ingest({ content: 'x', source: 'x' })).rejects.toEqual(mismatch)
    await expect(second.check()).rejects.toEqual(mismatch)
    expect((await second.search({ query: 'text', mode: 'keyword' })).results).toHaveLength(1)

    const progress: [number, number][] = []
    const status = await second.reindex({ progress: ({ done, total }) => progress.push([done, total]) })
    expect(status).toMatchObject({
      vectors: 1,
      chunks: 1,
      pending: 0,
      embedding_model: { provider: 'openai', dimensions: 8 },
    })
    expect(progress).toEqual([
      [0, 1],
      [1, 1],
    ])
    expect((await second.search({ query: 'text', mode: 'vector' })).results).toHaveLength(1)
    await second.close()
    const third = await place.open({ embedding: { ...embedding, provider: 'auto' } })
    expect((await third.config()).embedding_model.provider).toBe('openai')
  })

  it('is the static one for `auto`, and the one that is named, if its model is there', async () => {
    const cacheFolder = join(place.folder, 'models')
    const knowledge = await place.open({ embedding: { provider: 'auto', cacheFolder } })
    expect((await knowledge.config()).embedding_model.provider).toBe('static')
    const named = await place.open({
      embedding: { provider: 'transformers', cacheFolder },
      dataFolder: join(place.folder, 'b'),
    })
    await expect(named.ingest({ content: 'x' })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('Xenova/all-MiniLM-L6-v2'),
    })
    expect((await named.status()).documents).toBe(0)
    const model = join(cacheFolder, 'Xenova', 'all-MiniLM-L6-v2')
    await mkdir(join(model, 'onnx'), { recursive: true })
    await writeFile(join(model, 'config.json'), '{"hidden_size":384}')
    for (const file of ['tokenizer.json', 'tokenizer_config.json']) await writeFile(join(model, file), '{}')
    await writeFile(join(model, 'onnx', 'model.onnx'), 'not a model')
    expect((await named.config()).embedding_model).toEqual({
      provider: 'transformers',
      model: 'Xenova/all-MiniLM-L6-v2',
      dimensions: 384,
    })
    // The model file is broken: the child process that tries it fails, and this one goes on.
    await expect(named.ingest({ content: 'x' })).rejects.toMatchObject({ code: 'unavailable' })
    expect(await named.status()).toMatchObject({ documents: 0, vectors: 0 })
  })

  it('becomes a sentence model with its download when that is asked for', async () => {
    const files = tinyModelFiles('onnx/model_quantized.onnx')
    const hub = createServer((request, response) => {
      const content = files.get((request.url ?? '').replace(`/${tinyModelName}/resolve/main/`, ''))
      response.writeHead(content ? 200 : 404).end(content)
    })
    await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => hub.close(resolve).closeAllConnections()))
    const knowledge = await place.open({
      embedding: {
        provider: 'auto',
        model: tinyModelName,
        cacheFolder: join(place.folder, 'models'),
        hub: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
      },
    })
    await knowledge.ingest({ content: 'harbour', source: 'h' })
    await knowledge.ingest({ content: 'mountain', source: 'm' })
    expect(await knowledge.reindex({ embedder: 'transformers' })).toMatchObject({
      vectors: 2,
      embedding_model: { provider: 'transformers', model: tinyModelName },
    })
    const { results } = await knowledge.search({ query: 'harbor', mode: 'vector', limit: 1 })
    expect(results[0]?.source).toBe('h')
  })

  it('whose model is gone is said at start, with what to do, and searches find words meanwhile', async () => {
    const cacheFolder = join(place.folder, 'models')
    const embedding = { provider: 'auto' as const, model: tinyModelName, cacheFolder }
    await writeTinyModel(cacheFolder)
    const first = await place.open({ embedding: { ...embedding, provider: 'transformers' } })
    await first.ingest({ content: 'The harbour is closed.', source: 'h' })
    await first.ingest({ content: 'The mountain is open.', source: 'm' })
    await first.close()
    await rm(join(cacheFolder, tinyModelName), { recursive: true })

    const warnings: unknown[] = []
    const logger = { ...silentLogger, warn: (...told: unknown[]) => void warnings.push(told) }
    const second = await place.open({ embedding, logger })
    const cure = expect.stringContaining("run 'agentserve knowledge reindex --embedder transformers'")
    expect(warnings).toEqual([[{ collection: 'default', embedder: tinyModelName }, cure]])
    const { results, mode } = await second.search({ query: 'the harbour' })
    expect([mode, results[0]?.source]).toEqual(['hybrid', 'h'])
    await expect(second.search({ query: 'harbour', mode: 'vector' })).rejects.toMatchObject({ code: 'unavailable' })
    await expect(second.ingest({ content: 'more', source: 'more' })).rejects.toMatchObject({ code: 'unavailable' })
    expect(await second.status()).toMatchObject({ documents: 2, chunks: 2, vectors: 2, pending: 0 })
  })

  it('and its data stay apart for each tenant and database', async () => {
    const one = await place.open({ vectorDb: { type: 'lancedb', tenant: 'one' } })
    const other = await place.open({ vectorDb: { type: 'lancedb', database: 'one' } })
    await one.ingest({ content: 'only for one', source: 's' })
    expect((await other.search({ query: 'only' })).results).toEqual([])
    await expect(async () => place.open({ vectorDb: { type: 'lancedb', tenant: '../up' } })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    const folders = await readdir(join(place.folder, 'knowledge'), { withFileTypes: true })
    expect(folders.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort()).toEqual([
      'database-one',
      'tenant-one',
    ])
  })

  it('can be changed while documents are ingested, without losing one', async () => {
    const knowledge = await place.open()
    for (let at = 0; at < 30; at++)
      await knowledge.ingest({ content: `first ${at} `.repeat(30), source: `s${at}`, chunk_size: 50 })
    const [status] = await Promise.all([
      knowledge.reindex({ embedder: 'lexical' }),
      ...Array.from({ length: 30 }, (_, at) =>
        knowledge.ingest({ content: `second ${at} `.repeat(40), source: `s${at + 15}`, chunk_size: 50 }),
      ),
    ])
    expect(status.pending).toBe(0)
    const after = await knowledge.status()
    expect(after).toMatchObject({ documents: 45, vectors: after.chunks })
    await expect(knowledge.reindex({ embedder: 'magic' })).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
