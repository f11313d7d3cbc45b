import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DownloadProgress } from '../../../src/core/knowledge/drivers.ts'
import { createEmbedders, type EmbedderOptions } from '../../../src/knowledge/embedders/all.ts'
import { downloadModel } from '../../../src/knowledge/embedders/model-download.ts'
import {
  tinyModelDimensions,
  tinyModelFiles,
  tinyModelName,
  writeTinyModel,
} from '../../support/knowledge/tiny-model.ts'

const dot = (one: Float32Array | undefined, other: Float32Array | undefined) =>
  (one ?? new Float32Array()).reduce((sum, value, at) => sum + value * (other?.[at] ?? 0), 0)
const noFrequencies = async () => ({ chunks: 0, words: new Map(), trigrams: new Map() })

describe('a sentence model', () => {
  let cacheFolder: string
  const closers: (() => Promise<unknown>)[] = []
  beforeEach(async () => {
    cacheFolder = await mkdtemp(join(tmpdir(), 'models-'))
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
    await rm(cacheFolder, { recursive: true, force: true })
  })
  const embedders = (more: Partial<EmbedderOptions> = {}) =>
    createEmbedders({ provider: 'transformers', model: tinyModelName, cacheFolder, ...more })
  const open = async (more: Partial<EmbedderOptions> = {}) => {
    const all = embedders(more)
    const embedder = await all.open(await all.resolve())
    closers.push(() => embedder.close())
    return embedder
  }
  /** Stands in for the hub. */
  const hub = async (listener: RequestListener): Promise<string> => {
    const server: Server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const files = tinyModelFiles('onnx/model_quantized.onnx')
  const fileOf = (url = '') => decodeURIComponent(url).replace(`/${tinyModelName}/resolve/main/`, '')
  const serve: RequestListener = (request, response) => {
    const content = files.get(fileOf(request.url))
    if (content) response.writeHead(200, { 'content-length': content.length }).end(content)
    else response.writeHead(404).end()
  }

  it('runs in the real pipeline, and a text has the same vector alone and beside others', async () => {
    await writeTinyModel(cacheFolder)
    const embedder = await open()
    expect(embedder.embedding).toEqual({
      provider: 'transformers',
      model: tinyModelName,
      dimensions: tinyModelDimensions,
    })
    const texts = [
      'harbour',
      'harbor',
      'a mountain top at night',
      ...Array.from({ length: 20 }, (_, at) => `text ${at}`),
    ]
    const vectors = await embedder.embedTexts(texts)
    expect(vectors).toHaveLength(texts.length)
    expect(dot(vectors[0], vectors[1])).toBeGreaterThan(dot(vectors[0], vectors[2]) + 0.2)
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 5)
    expect(dot(await embedder.embedQuery('harbour', noFrequencies), vectors[0])).toBeCloseTo(1, 5)
  })

  it('answers a query before the rest of what is being ingested', async () => {
    await writeTinyModel(cacheFolder)
    const embedder = await open()
    const order: string[] = []
    const batches = ['one', 'two', 'three'].map((name) =>
      embedder.embedTexts(Array<string>(8).fill(name)).then(() => order.push(name)),
    )
    const query = embedder.embedQuery('question', noFrequencies).then(() => order.push('query'))
    await Promise.all([...batches, query])
    expect(order).toEqual(['one', 'query', 'two', 'three'])
  })

  it('is downloaded when that is asked for, with progress, and then can be used', async () => {
    const seen: string[] = []
    const address = await hub((request, response) => {
      seen.push(fileOf(request.url))
      serve(request, response)
    })
    const all = embedders({ provider: 'transformers', hub: address })
    await expect(all.resolve()).rejects.toMatchObject({ code: 'unavailable' })
    const progress: DownloadProgress[] = []
    await all.download('transformers', { progress: (at) => progress.push(at) })
    const total = [...files.values()].reduce((sum, file) => sum + file.length, 0)
    expect(progress.at(-1)).toEqual({ loadedBytes: total, totalBytes: total, file: 'onnx/model_quantized.onnx' })
    expect(await all.resolve()).toMatchObject({ provider: 'transformers', dimensions: tinyModelDimensions })
    await all.download('transformers')
    expect(seen).toEqual([...files.keys()])
    expect(await readdir(cacheFolder)).toEqual(['tiny'])
  })

  it('has the type of weights that was asked for, or says that there is none', async () => {
    const address = await hub(serve)
    await expect(embedders({ hub: address, dtype: 'fp16' }).download('transformers')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('no fp16 weights (onnx/model_fp16.onnx)'),
    })
    await writeTinyModel(cacheFolder)
    await expect(embedders({ dtype: 'q8' }).resolve()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`the model ${tinyModelName} (q8) is not in`),
    })
    expect((await (await open({ dtype: 'fp32' })).embedTexts(['x'])).length).toBe(1)
  })

  const failures: [name: string, listener: RequestListener, reason: string][] = [
    ['has no such model', (_request, response) => response.writeHead(404).end(), 'no public model of that name'],
    ['is in trouble', (_request, response) => response.writeHead(503).end('later'), 'it answered 503 for config.json'],
    [
      'breaks off in the middle',
      (request, response) => {
        if (!request.url?.endsWith('.onnx')) return serve(request, response)
        response.writeHead(200, { 'content-length': 10_000 })
        response.write('half', () => response.destroy())
      },
      'the connection was lost',
    ],
    [
      'says nothing more',
      (request, response) => {
        if (request.url?.endsWith('.onnx')) response.writeHead(200, { 'content-length': 10_000 }).write('half')
        else serve(request, response)
      },
      'no data arrived for too long',
    ],
    [
      'sends something else',
      (request, response) => {
        if (request.url?.endsWith('.onnx')) response.end('<html>please log in</html>')
        else serve(request, response)
      },
      "the downloaded model can't be run",
    ],
  ]
  it.each(failures)('leaves nothing behind when the hub %s', async (_name, listener, reason) => {
    const address = await hub(listener)
    const all = embedders({ hub: address, stallMs: 300 })
    await expect(all.download('transformers')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(reason),
    })
    expect(await readdir(cacheFolder)).toEqual([])
    await expect(all.resolve()).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('is not waited for without a network, and a stopped download leaves nothing behind', async () => {
    const gone = await hub(serve)
    await closers.pop()?.()
    await expect(embedders({ hub: gone }).download('transformers')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining("it can't be reached (ECONNREFUSED)"),
    })
    const stop = new AbortController()
    const address = await hub((_request, response) => {
      response.writeHead(200).write('{')
      stop.abort(new Error('stopped'))
    })
    const stopped = downloadModel({
      hub: address,
      model: tinyModelName,
      type: 'q8',
      cacheFolder,
      signal: stop.signal,
      verify: async () => {},
    })
    await expect(stopped).rejects.toThrow('stopped')
    expect(await readdir(cacheFolder)).toEqual([])
  })
})
