import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ingestAddress, uniqueAddresses } from '../../src/cli/ingest/address.ts'
import type { Client } from '../../src/client/client.ts'
import { version } from '../../src/core/version.ts'
import { download, publicAddress } from '../../src/runtime/download.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../support/knowledge/folder.ts'

const page = `<main><h1>Tides</h1><p>${'High water is at noon. '.repeat(20)}</p></main>`
const date = 'Tue, 03 Mar 2026 10:00:00 GMT'
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
    else if (path === 'coded-often')
      response.setHeader('content-encoding', Array(6).fill('gzip').join(', ')).end(gzipSync(page))
    else if (path === 'no-gzip') response.setHeader('content-encoding', 'gzip').end(page)
    else if (path === 'no-brotli') response.setHeader('content-encoding', 'br').end(page)
    else if (path === 'cut') response.setHeader('content-encoding', 'gzip').end(gzipSync(page).subarray(0, 40))
    else if (path === 'broken-off')
      response.writeHead(200, { 'content-length': 1_000 }).write('<p>', () => request.socket.destroy())
    else if (path === 'odd') response.setHeader('content-encoding', 'zebra').end(page)
    else if (path === 'away')
      response.writeHead(302, { location: `http://localhost:${request.socket.localPort}/` }).end()
    else if (path === 'russian')
      response
        .setHeader('content-type', 'text/html; charset=windows-1251')
        .end(Buffer.concat([Buffer.from('<meta charset="utf-8"><p>'), Buffer.from([0xd1, 0xeb, 0xee, 0xed])]))
    else if (path === 'meta')
      response.end(Buffer.concat([Buffer.from('<meta charset="windows-1251"><p>'), Buffer.from([0xca, 0xee, 0xf2])]))
    else if (path === 'marked') response.end(Buffer.from('\ufeff<meta charset="windows-1251"><p>Тигр', 'utf16le'))
    else if (path === 'dated' && request.headers['if-modified-since'] === date) response.writeHead(304).end()
    else if (path === 'dated') response.setHeader('last-modified', date).end(page)
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

it.each([
  ['coded-often', /coded-often is encoded more than 5 times, which is not supported\.$/],
  ['no-gzip', /no-gzip can't be fetched: its compressed content is damaged or cut off\.$/],
  ['no-brotli', /no-brotli can't be fetched: its compressed content is damaged or cut off\.$/],
  ['cut', /cut can't be fetched: its compressed content is damaged or cut off\.$/],
  ['broken-off', /broken-off can't be fetched: the connection was lost \((?:UND_ERR_SOCKET|ECONNRESET)\)\.$/],
])('says in words why a page can not be fetched: %s', async (path, expected) => {
  await expect(download(`${url}/${path}`, allowed)).rejects.toThrow(expected)
})

it('says in words that nothing listens', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as AddressInfo
  await new Promise((resolve) => closed.close(resolve))
  const nobody = download(`http://127.0.0.1:${port}/`, allowed)
  await expect(nobody).rejects.toThrow(`:${port}/ can't be fetched: nothing listens there (ECONNREFUSED).`)
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

it.each([
  'https://ann:secret@host.test/a#b',
  'https:///ann:secret@host.test/a',
  'HTTPS:\\\\ann:secret@HOST.test:443/a#b',
  'https://ann:100%secret@host.test/x/../a',
])('names the page of %s without user, password and fragment', (address) => {
  expect(publicAddress(address)).toBe('https://host.test/a')
})

it('sends a password with a lone percent sign, and shows none of an address that is none', async () => {
  await download(url.replace('//', '//ann:5%off@'), allowed)
  expect(asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ann:5%off').toString('base64')}`)
  await expect(download('https://ann:secret@host:port/', allowed)).rejects.toThrow(/^(?!.*secret).*not an https/)
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
  expect(await ingest(`${url}/dated`)).toMatchObject({ outcome: 'added' })
  expect(await ingest(`${url}/dated`)).toMatchObject({ outcome: 'unchanged' })
  expect(asked.at(-1)?.headers['if-modified-since']).toBe(date)
  for (const [path, word] of [
    ['russian', 'Слон'],
    ['meta', 'Кот'],
    ['marked', 'Тигр'],
  ]) {
    await ingest(`${url}/${path}`)
    const { results } = await knowledge.search({ query: `${word}`, mode: 'keyword' })
    expect(results[0]).toMatchObject({ source: `${url}/${path}`, content: expect.stringContaining(`${word}`) })
  }
  expect(JSON.stringify(await knowledge.listDocuments({}, { limit: 10, cursor: undefined }))).not.toContain('secret')
})
