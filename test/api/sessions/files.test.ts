import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerConfig } from '../../../src/config/types.ts'
import { type As, api, type People, withPeople } from '../access/people.ts'

const upload = (text: string, more: object = {}) => ({
  type: 'file',
  media_type: 'text/plain',
  name: 'a.txt',
  data: btoa(text),
  ...more,
})

const ways: [string, ServerConfig][] = [
  ['SQLite', {}],
  ['memory', { sessionStorage: 'memory' }],
]

describe.each(ways)('files of a session, with %s', (_way, config) => {
  let people: People
  let ann: As
  let bob: As

  beforeAll(async () => {
    people = await withPeople(['ann', 'bob'], config)
    ;[ann, bob] = [people.as('ann'), people.as('bob')]
  })
  afterAll(() => people.server.close())

  async function bring(as: As, parts: object[], session_id?: string) {
    const answer = await as('POST', `${api}/agents/echo/run`, { input: { parts }, session_id })
    expect([answer.status, answer.text]).toEqual([200, answer.text])
    const { session_id: session, messages } = answer.json
    return { session, parts: messages[0].parts, path: pathOf(session, messages[0].parts[0].file_id) }
  }
  const pathOf = (session: string, fileId: string) => `${api}/sessions/${session}/files/${fileId}`

  test('a file is read back as it was sent, as an attachment that no browser runs', async () => {
    const { session, parts, path } = await bring(ann, [upload('hello')])
    expect(parts).toEqual([
      { type: 'file', media_type: 'text/plain', name: 'a.txt', file_id: expect.stringMatching(/^file_/), size: 5 },
    ])
    const answer = await ann('GET', path)
    expect([answer.status, answer.text]).toEqual([200, 'hello'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '5',
      'content-disposition': `attachment; filename="a.txt"; filename*=UTF-8''a.txt`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    const head = await ann('HEAD', path)
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '5'])
    const { json } = await ann('GET', `${api}/sessions/${session}/history`)
    expect(json.messages[0].parts).toEqual(parts)
  })

  test('only some types are sent as they are', async () => {
    for (const type of ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'application/pdf']) {
      const { path } = await bring(ann, [upload('x', { media_type: `${type.toUpperCase()}; a=b` })])
      expect((await ann('GET', path)).headers.get('content-type')).toBe(type)
    }
    for (const type of ['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/javascript', 'image/pngx']) {
      const { path } = await bring(ann, [upload('<script>', { media_type: type })])
      expect((await ann('GET', path)).headers.get('content-type')).toBe('application/octet-stream')
    }
  })

  test('a hostile name stays text', async () => {
    const name = '../a"b\r\nSet-Cookie: x=1; \u202egpj.exe\ud800é*\'.html'
    const { path } = await bring(ann, [upload('x', { name })])
    const { headers } = await ann('GET', path)
    expect(headers.get('set-cookie')).toBeNull()
    const disposition = headers.get('content-disposition') ?? ''
    expect(disposition).toMatch(/^attachment; filename="[\w .()-]*"; filename\*=UTF-8''[\w.%~-]*$/)
    expect(decodeURIComponent(disposition.split("''")[1] ?? '')).not.toMatch(/[\\/\r\n\u202e]/)
    const nameless = await bring(ann, [upload('x', { name: undefined })])
    expect((await ann('GET', nameless.path)).headers.get('content-disposition')).toBe('attachment')
  })

  test('a large file arrives whole', async () => {
    const bytes = Buffer.alloc(3 * 1024 * 1024 + 7, 'abc')
    const { path } = await bring(ann, [{ ...upload(''), data: bytes.toString('base64') }])
    expect((await ann('GET', path)).text === bytes.toString()).toBe(true)
  })

  test('a file has an id in its session only', async () => {
    const one = await bring(ann, [upload('one')])
    const two = await bring(ann, [upload('one')])
    expect(one.parts[0].file_id).not.toBe(two.parts[0].file_id)
    const mixed = await ann('GET', pathOf(two.session, one.parts[0].file_id))
    expect([mixed.status, mixed.json.error.code]).toEqual([404, 'file_not_found'])
    expect((await ann('GET', pathOf('none', one.parts[0].file_id))).json.error.code).toBe('session_not_found')
    expect((await bob('GET', one.path)).json.error.code).toBe('session_not_found')
    await ann('DELETE', `${api}/sessions/${one.session}`)
    expect((await ann('GET', one.path)).status).toBe(404)
    expect((await ann('GET', two.path)).text).toBe('one')
  })

  test('a former user reads the files of the runs until the handover', async () => {
    const early = await bring(ann, [upload('early')])
    await people.operator('POST', `${api}/sessions/${early.session}/reuse`, { user_id: 'bob' })
    const late = await bring(bob, [upload('late')], early.session)
    expect((await ann('GET', early.path)).text).toBe('early')
    const refused = await ann('GET', late.path)
    expect([refused.status, refused.json.error.code]).toEqual([404, 'file_not_found'])
    for (const { path } of [early, late]) expect((await bob('GET', path)).status).toBe(200)
    await bob('DELETE', `${api}/sessions/${early.session}/shared/user/ann`)
    // Her own run, as it is without the session.
    expect((await ann('GET', early.path)).status).toBe(200)
    expect((await ann('GET', late.path)).json.error.code).toBe('session_not_found')
  })

  test('bad parts are refused with their path', async () => {
    const refusals: [object, number, string][] = [
      [upload('x', { data: 'no base64!' }), 400, 'input.parts.1.data'],
      [upload('', {}), 400, 'input.parts.1.data'],
      [upload('x', { data: 5 }), 400, 'input.parts.1.data'],
      [upload('x', { file_id: 'file_1' }), 400, 'input.parts.1.file_id'],
      [upload('x', { url: 'https://example.com/a' }), 400, 'input.parts.1.data'],
      [upload('x', { data: undefined }), 400, 'input.parts.1.data'],
      [upload('x', { data: undefined, url: 'file:///etc/passwd' }), 400, 'input.parts.1.url'],
      [upload('x', { media_type: 'nothing' }), 400, 'input.parts.1.media_type'],
      [upload('x', { media_type: undefined }), 400, 'input.parts.1.media_type'],
    ]
    for (const [part, status, path] of refusals) {
      const body = { input: { parts: [{ type: 'text', text: 'x' }, part] } }
      const answer = await ann('POST', `${api}/agents/echo/run`, body)
      expect([answer.status, answer.json.error?.details?.[0]?.path]).toEqual([status, path])
    }
  })
})

describe.each(ways)('copies of files, with %s', (_way, config) => {
  let people: People
  let operator: As

  beforeAll(async () => {
    people = await withPeople(['ann', 'bob'], { ...config, limits: { fileSize: 1024 } })
    operator = people.operator
  })
  afterAll(() => people.server.close())

  const ndjson = { 'content-type': 'application/x-ndjson' }
  const read = async (session: string, fileId: string) =>
    (await operator('GET', `${api}/sessions/${session}/files/${fileId}`)).text
  const load = (text: string, query = '') => operator('POST', `${api}/sessions/import${query}`, text, ndjson)
  async function bring(as: As = operator, more: object = {}) {
    const body = { input: { parts: [upload('kept'), upload('more')] }, ...more }
    const { session_id, messages } = (await as('POST', `${api}/agents/echo/run`, body)).json
    return { session: session_id as string, ids: messages[0].parts.map((part: { file_id: string }) => part.file_id) }
  }

  test('a fork, an export and an import have the files', async () => {
    const { session, ids } = await bring()
    const fork = (await operator('POST', `${api}/sessions/${session}/fork`, {})).json.session_id
    const copy = (await operator('GET', `${api}/sessions/${session}/export`)).text
    expect(copy).not.toMatch(/sha256|hash/)
    const other = (await load(copy, '?new_ids=true')).json.session_id
    await operator('DELETE', `${api}/sessions/${session}`)
    expect((await load(copy)).status).toBe(201)
    expect((await operator('GET', `${api}/sessions/${session}/export`)).text).toBe(copy)
    for (const one of [fork, other, session])
      expect([await read(one, ids[0]), await read(one, ids[1])]).toEqual(['kept', 'more'])
  })

  test('a hostile copy is refused as a whole', async () => {
    const { session } = await bring()
    const lines = (await operator('GET', `${api}/sessions/${session}/export`)).text.trim().split('\n')
    const values = lines.map((line) => JSON.parse(line))
    const place = values.findIndex(({ type }) => type === 'file')
    const changed = (change: object) => values.with(place, { ...values[place], ...change })
    const inFile = (change: object) => changed({ file: { ...values[place].file, ...change } })
    const cases: [RegExp, number, unknown[]][] = [
      [/data must be base64/, 400, changed({ data: '!' })],
      [/file.size is 5, but data has 4 bytes/, 400, inFile({ size: 5 })],
      [/occurs twice/, 400, values.toSpliced(place, 0, values[place])],
      [/run_id must be the same/, 400, changed({ run_id: 'run_unknown' })],
      [/file_id must be the id of a file/, 400, inFile({ file_id: '../../etc' })],
      [/2 files, but found .* 1 files/, 400, values.toSpliced(place, 1)],
      [/fileSize/, 413, changed({ data: btoa('x'.repeat(1025)), file: { ...values[place].file, size: 1025 } })],
    ]
    await operator('DELETE', `${api}/sessions/${session}`)
    for (const [words, status, copy] of cases) {
      const answer = await load(copy.map((value) => JSON.stringify(value)).join('\n'))
      expect([answer.status, answer.json.error.message]).toEqual([status, expect.stringMatching(words)])
      expect((await operator('GET', `${api}/sessions/${session}`)).status).toBe(404)
    }
  })

  test('the export of a user has the files, and erasing the user deletes them', async () => {
    const own = await bring(people.as('ann'))
    await operator('POST', `${api}/sessions`, { session_id: `of-bob-${_way}`, user_id: 'bob' })
    const elsewhere = await bring(operator, { session_id: `of-bob-${_way}`, user_id: 'ann' })
    const lines = (await operator('GET', `${api}/users/ann/export`)).text
    for (const id of [...own.ids, ...elsewhere.ids]) expect(lines).toContain(`"file_id":"${id}"`)
    expect(lines.split(btoa('kept'))).toHaveLength(3)
    expect((await operator('DELETE', `${api}/users/ann`)).status).toBe(204)
    for (const { session, ids } of [own, elsewhere]) expect(await read(session, ids[0])).toContain('not_found')
  })
})
