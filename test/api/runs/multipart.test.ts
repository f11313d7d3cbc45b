import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const path = '/api/v1/agents/reads/run'

describe('a run as a form', () => {
  let server: RunningTestServer

  beforeAll(async () => {
    const reads = agent({
      async *run({ text, parts, files }) {
        yield `${text}:`
        for (const part of parts) if (part.type === 'file') yield new TextDecoder().decode(await files.read(part))
      },
    })
    server = await startServer({ maxRequestSize: 64 * 1024, limits: { fileSize: 32 * 1024 } }, { reads })
  })
  afterAll(() => server.close())

  function formOf(request: unknown, ...files: (string | File)[]): FormData {
    const form = new FormData()
    if (request !== undefined) form.append('request', typeof request === 'string' ? request : JSON.stringify(request))
    for (const file of files) form.append('file', file)
    return form
  }
  const file = (content: string, name: string, type = 'text/plain') => new File([content], name, { type })
  const post = (form: FormData | string, headers = {}) => server.call('POST', path, form, headers)

  test('its files become parts after those of the request', async () => {
    const answer = await post(formOf({ input: 'see' }, file('one', 'a.txt'), file('two', 'b.md', 'text/markdown')))
    expect([answer.status, answer.json.content]).toEqual([200, 'see:onetwo'])
    expect(answer.json.messages[0].parts).toEqual([
      { type: 'text', text: 'see' },
      { type: 'file', media_type: 'text/plain', name: 'a.txt', file_id: expect.any(String), size: 3 },
      { type: 'file', media_type: 'text/markdown', name: 'b.md', file_id: expect.any(String), size: 3 },
    ])
  })

  test('the stream takes it too, and `request` may be a file of JSON', async () => {
    const form = new FormData()
    form.append('file', file('one', 'a.txt'))
    const json = JSON.stringify({ input: { parts: [{ type: 'text', text: 'x' }] } })
    form.append('request', new File([json], 'request.json', { type: 'application/json' }))
    form.append('_charset_', 'utf-8')
    const answer = await server.call('POST', `${path}/stream`, form)
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('"one"')
  })

  test('the same key and form is the same run, another form is refused', async () => {
    const key = { 'idempotency-key': 'of-the-form' }
    const send = (content: string) => post(formOf({ input: 'x' }, file(content, 'a.txt')), key)
    const [first, again, other] = [await send('one'), await send('one'), await send('two')]
    expect(again.json.run_id).toBe(first.json.run_id)
    expect(other.status).toBe(422)
  })

  test('what is wrong with the form is said, and there is no run', async () => {
    const cases: [FormData, number, string][] = [
      [formOf(undefined, file('one', 'a.txt')), 400, 'request is required'],
      [formOf('no JSON'), 400, 'request must be JSON'],
      [formOf({ input: 5 }), 400, 'input'],
      [formOf({ input: 'x' }, 'text'), 400, 'file must be a file'],
      [formOf({ input: 'x' }, file('', 'a.txt')), 400, 'must not be empty'],
      [formOf({ input: 'x' }, ...Array.from({ length: 11 }, () => file('a', 'a'))), 400, 'run.files'],
      [formOf({ input: 'x' }, file('a'.repeat(33 * 1024), 'a')), 413, 'fileSize'],
      [formOf({ input: 'x' }, file('a'.repeat(65 * 1024), 'a')), 413, 'payload_too_large'],
    ]
    const twice = formOf({ input: 'x' })
    twice.append('request', '{}')
    cases.push([twice, 400, 'request must be given once'])
    const unknown = formOf({ input: 'x' })
    unknown.append('files', file('a', 'a'))
    cases.push([unknown, 400, "unknown field 'files'"])
    const before = (await server.call('GET', '/api/v1/runs')).text
    for (const [form, status, words] of cases) {
      const answer = await post(form)
      expect([words, answer.status]).toEqual([words, status])
      expect(answer.text).toContain(words)
    }
    const type = { 'content-type': 'multipart/form-data; boundary=b' }
    expect((await post('--b\r\nContent-Disposition: form-data; name="request"\r\n\r\n{', type)).status).toBe(400)
    expect((await server.call('GET', '/api/v1/runs')).text).toBe(before)
  })

  test('a form that is cut off starts nothing', async () => {
    const before = (await server.call('GET', '/api/v1/runs')).text
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 1000\r\n`
    socket.write(`${head}Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n`)
    await new Promise<void>((resolve) => socket.write('Content-Disposition: form-data; name="file"', () => resolve()))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.end().destroy()
    await closed
    expect((await server.call('GET', '/api/v1/runs')).text).toBe(before)
  })
})
