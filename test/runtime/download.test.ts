import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ingestAddress, uniqueAddresses } from '../../src/cli/ingest/address.ts'
import type { Client } from '../../src/client/client.ts'
import { version } from '../../src/core/version.ts'
import { download } from '../../src/runtime/download.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../support/knowledge/folder.ts'

const page = `<main><h1>Tides</h1><p>${'High water is at noon. '.repeat(20)}</p></main>`
const codings: Record<string, (text: string) => Buffer> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  deflate: deflateSync,
  'deflate-raw': deflateRawSync,
}

let server: Server
let url: string
let asked: IncomingMessage[] = []
let place: KnowledgeFolder

beforeAll(async () => {
  place = await knowledgeFolder()
  server = createServer((request, response) => {
    asked.push(request)
    const path = request.url?.slice(1) ?? ''
    response.setHeader('content-type', 'text/html')
    if (path in codings) response.setHeader('content-encoding', path.replace('-raw', '')).end(codings[path]?.(page))
    else if (path === 'bomb') response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(30_000_000)))
    else if (path === 'odd') response.setHeader('content-encoding', 'zebra').end(page)
    else if (path === 'away')
      response.writeHead(302, { location: `http://localhost:${request.socket.localPort}/` }).end()
    else if (path === 'russian')
      response
        .setHeader('content-type', 'text/html; charset=windows-1251')
        .end(Buffer.concat([Buffer.from('<meta charset="utf-8"><p>'), Buffer.from([0xd1, 0xeb, 0xee, 0xed])]))
    else if (request.headers['if-none-match'] === '"one"') response.writeHead(304).end()
    else response.setHeader('etag', '"one"').end(page)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await place.remove()
  await new Promise((resolve) => server.close(resolve).closeAllConnections())
})
beforeEach(() => {
  asked = []
})

const { signal } = new AbortController()
const allowed = { allowHttp: true, allowPrivate: true, signal }

it.each(Object.keys(codings))('reads a page that is sent as %s', async (coding) => {
  const found = await download(`${url}/${coding}`, allowed)
  expect(Buffer.from(found?.bytes ?? []).toString()).toBe(page)
})

it('stops at a page that unpacks to more than the limit, and at a coding that it does not know', async () => {
  await expect(download(`${url}/bomb`, allowed)).rejects.toMatchObject({ code: 'payload_too_large' })
  await expect(download(`${url}/odd`, allowed)).rejects.toThrow("encoded as 'zebra'")
})

it('says who asks, and shows a user and password to their own origin alone', async () => {
  await download(`${url.replace('//', '//ann:p%40ss@')}/away#part`, allowed)
  const [first, second] = asked.map(({ headers }) => headers)
  expect(first).toMatchObject({ 'user-agent': `agentserve/${version}` })
  expect(first?.authorization).toBe(`Basic ${Buffer.from('ann:p@ss').toString('base64')}`)
  expect(second).not.toHaveProperty('authorization')
  const refused = download('http://ann:secret@127.0.0.1:1/#x', { ...allowed, allowPrivate: false })
  await expect(refused).rejects.toThrow(/^(?!.*secret)/)
})

it('makes one document of a page, in its charset, and asks only for changes', async () => {
  const knowledge = await place.open()
  const client = {
    knowledge: {
      ingest: (content: { bytes: Uint8Array; filename: string; mediaType?: string }, settings: object) =>
        knowledge.ingest({
          content: content.bytes,
          name: content.filename,
          media_type: content.mediaType,
          ...settings,
        }),
      documents: {
        list: async (filter: { source?: string }) => ({
          documents: (await knowledge.listDocuments(filter, { limit: 1, cursor: undefined })).items,
        }),
      },
    },
  } as unknown as Client
  const ingest = (address: string) =>
    ingestAddress(client, address, { root: '.', paths: [], settings: {}, allowHttp: true, allowPrivate: true, signal })
  const named = url.replace('//', '//ann:secret@')
  expect(uniqueAddresses([`${url}/#a`, `${named}/#b`])).toHaveLength(1)
  expect(await ingest(`${named}/#a`)).toMatchObject({ source: `${url}/`, outcome: 'added' })
  expect(await ingest(`${url}/#b`)).toMatchObject({ source: `${url}/`, outcome: 'unchanged' })
  expect(asked.at(-1)?.headers['if-none-match']).toBe('"one"')
  await ingest(`${url}/russian`)
  const { results } = await knowledge.search({ query: 'Слон', mode: 'keyword' })
  expect(results[0]).toMatchObject({ source: `${url}/russian`, content: expect.stringContaining('Слон') })
  expect(JSON.stringify(await knowledge.listDocuments({}, { limit: 10, cursor: undefined }))).not.toContain('secret')
})
