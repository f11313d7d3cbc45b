import { afterEach, expect, test } from 'vitest'
import { type Client, createClient } from '../../src/client/index.ts'
import type { ClientRequest } from '../../src/client/transport/transport.ts'

const requests: ClientRequest[] = []
afterEach(() => void requests.splice(0))

/** A server that answers each request in turn. */
function open(...answers: { status?: number; headers?: Record<string, string>; body: string | Uint8Array }[]): Client {
  return createClient({
    async transport(request) {
      requests.push(request)
      const { status = 200, headers = {}, body } = answers[requests.length - 1] ?? { body: '{"messages":[]}' }
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const all = { 'content-type': 'application/json', ...headers }
      return {
        status,
        headers: all,
        body: (async function* () {
          yield bytes
        })(),
      }
    },
  })
}

async function formOf({ body, headers }: ClientRequest): Promise<FormData> {
  const bytes = new Uint8Array(typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? new Uint8Array()))
  return new Response(bytes, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
}

const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255, 13, 10])

test('sends bytes, blobs and files as a form after the request, each with its name and type', async () => {
  const client = open()
  await client.agents.run('look', {
    input: 'What is it?',
    user_id: 'ann',
    files: [
      { bytes, name: 'a "b"\n.png', media_type: 'image/png' },
      new Blob(['x'], { type: 'text/plain' }),
      new File(['y'], 'ü.bin'),
      { bytes: new Blob(['z']), name: 'z.csv', media_type: 'text/csv' },
    ],
  })
  const [request] = requests
  if (request === undefined) throw new Error('nothing was sent')
  expect(request).toMatchObject({ method: 'POST', url: '/api/v1/agents/look/run' })
  expect(request.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
  const form = await formOf(request)
  expect([...form.keys()]).toEqual(['request', 'file', 'file', 'file', 'file'])
  expect(JSON.parse(String(form.get('request')))).toEqual({ input: 'What is it?', user_id: 'ann' })
  const files = form.getAll('file') as File[]
  expect(files.map(({ type }) => type)).toEqual(['image/png', 'text/plain', 'application/octet-stream', 'text/csv'])
  expect(files.map(({ name }) => name).slice(1)).toEqual(['file', 'ü.bin', 'z.csv'])
  expect(new Uint8Array((await files[0]?.arrayBuffer()) ?? [])).toEqual(bytes)
})

test('sends addresses as JSON, and before the files that have bytes', async () => {
  const client = open()
  const link = { url: 'https://example.com/a.png', media_type: 'image/png' }
  await client.agents.run('look', { input: 'Look', files: [link] })
  const part = { type: 'file', ...link }
  expect(JSON.parse(String(requests[0]?.body))).toEqual({ input: { parts: [{ type: 'text', text: 'Look' }, part] } })
  const input = { parts: [{ type: 'data' as const, data: 1 }] }
  await client.agents.background('look', {
    input,
    files: [
      { bytes, name: 'b' },
      { ...link, name: 'a' },
    ],
  })
  const form = await formOf(requests[1] as ClientRequest)
  const parts = [...input.parts, { ...part, name: 'a' }]
  expect(JSON.parse(String(form.get('request')))).toEqual({ input: { parts }, background: true })
  await client.agents.run('look', { input: 'none', files: [] })
  expect(JSON.parse(String(requests[2]?.body))).toEqual({ input: 'none' })
})

test('sends the same bytes again when the request is retried', async () => {
  const unavailable = {
    status: 503,
    headers: { 'retry-after': '0' },
    body: '{"error":{"code":"unavailable","message":"x"}}',
  }
  const client = open(unavailable, { body: '{"messages":[]}' })
  await client.agents.run('look', { input: 'x', files: [{ bytes, name: 'a' }] })
  expect(requests).toHaveLength(2)
  expect(requests[1]?.body).toEqual(requests[0]?.body)
  expect(requests[1]?.headers).toEqual(requests[0]?.headers)
})

test('a stream takes files too', async () => {
  const events =
    'data: {"type":"run_end","run_id":"r","seq":2,"at":"","status":"completed","usage":null,"cache_hit":false}\n\n'
  const client = open({ headers: { 'content-type': 'text/event-stream', 'x-run-id': 'r' }, body: events })
  await (await client.agents.stream('look', { input: 'x', files: [new Blob(['y'])] })).result()
  const form = await formOf(requests[0] as ClientRequest)
  expect(JSON.parse(String(form.get('request')))).toEqual({ input: 'x', on_disconnect: 'continue' })
  expect(form.getAll('file')).toHaveLength(1)
})

test.each([[null], ['a.png'], [{}], [{ bytes: 'text' }], [{ bytes: [1] }]])(
  'refuses %j as a file before it sends',
  async (file) => {
    const files = [new Blob(['x']), file] as never
    await expect(open().agents.run('look', { input: 'x', files })).rejects.toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'files.1' }],
    })
    expect(requests).toHaveLength(0)
  },
)

test.each([
  [`attachment; filename="_.png"; filename*=UTF-8''%C3%BC.png`, 'ü.png'],
  ['attachment; filename="a b.png"', 'a b.png'],
  [`attachment; filename="a.png"; filename*=UTF-8''%E0%A4%A`, 'a.png'],
  ['attachment', undefined],
])('reads a file back with the name of %s', async (disposition, name) => {
  const headers = { 'content-type': 'image/png', 'content-disposition': disposition }
  const client = open({ headers, body: bytes })
  const file = await client.sessions.file('ses_1', 'fil/1')
  expect(file).toEqual({ bytes: expect.anything(), media_type: 'image/png', name })
  expect(new Uint8Array(file.bytes)).toEqual(bytes)
  expect(requests[0]).toMatchObject({ method: 'GET', url: '/api/v1/sessions/ses_1/files/fil%2F1' })
})

test('a file that is not there is an error with its code', async () => {
  const body = '{"error":{"code":"file_not_found","message":"No file."}}'
  await expect(open({ status: 404, body }).sessions.file('s', 'f')).rejects.toMatchObject({ code: 'file_not_found' })
})
