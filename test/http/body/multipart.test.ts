import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAppError } from '../../../src/core/error.ts'
import { parseMultipart } from '../../../src/http/body/multipart.ts'
import { json } from '../../../src/http/reply.ts'
import { post, testKernel } from '../support.ts'

const type = 'multipart/form-data; boundary=line'
const part = (head: string, body: string) => `--line\r\n${head}\r\n\r\n${body}\r\n`
const field = (name: string, value: string) => part(`Content-Disposition: form-data; name="${name}"`, value)
const file = (name: string, filename: string, value: string) =>
  part(`Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: text/markdown`, value)
const end = '--line--\r\n'
const parse = (body: string, contentType = type) => parseMultipart(Buffer.from(body), contentType)

describe('a multipart body', () => {
  test('gives its parts in order', async () => {
    expect(await parse(`${field('a', 'é')}${file('file', 'x.md', '# T\r\n')}${field('b', '')}${end}`)).toEqual([
      { kind: 'field', name: 'a', value: 'é' },
      { kind: 'file', name: 'file', filename: 'x.md', mediaType: 'text/markdown', bytes: Buffer.from('# T\r\n') },
      { kind: 'field', name: 'b', value: '' },
    ])
  })

  test('keeps a file of several megabytes and an empty one whole', async () => {
    const large = 'abcdefgh\r\n'.repeat(400_000)
    const parts = await parse(`${file('a', 'a', large)}${file('b', 'b', '')}${end}`)
    expect(parts.map((one) => one.kind === 'file' && Buffer.from(one.bytes).toString())).toEqual([large, ''])
  })

  test.each([
    ['../../etc/passwd', '../../etc/passwd'],
    ['/etc/passwd', '/etc/passwd'],
    ['a\u0000b\u0007.md', 'ab.md'],
    ['naïve €.md', 'naïve €.md'],
  ])('keeps the file name %j as a label', async (given, kept) => {
    expect(await parse(`${file('file', given, 'x')}${end}`)).toMatchObject([{ filename: kept }])
  })

  test.each([
    ['no boundary', `${field('a', '1')}${end}`, 'multipart/form-data'],
    ['an empty boundary', `${field('a', '1')}${end}`, 'multipart/form-data; boundary=""'],
    ['a long boundary', `${field('a', '1')}${end}`, `multipart/form-data; boundary=${'x'.repeat(71)}`],
    ['another boundary', `${field('a', '1')}${end}`, 'multipart/form-data; boundary=other'],
    ['nothing in it', '', type],
    ['a field cut off', field('a', '1').slice(0, -3), type],
    ['a file cut off', file('a', 'x', '123').slice(0, -3), type],
    ['no end', field('a', '1'), type],
    ['a part without a name', `${part('Content-Disposition: form-data', '1')}${end}`, type],
  ])('is refused with %s', async (_name, body, contentType) => {
    await expect(parse(body, contentType)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test.each([
    ['too many fields', `${field('a', '1').repeat(121)}${end}`],
    ['too many files', `${file('a', 'x', '1').repeat(121)}${end}`],
    ['too large a field', `${field('a', 'x'.repeat(1024 * 1024 + 1))}${end}`],
  ])('is too large with %s', async (_name, body) => {
    await expect(parse(body)).rejects.toMatchObject({ code: 'payload_too_large' })
  })

  test.each(['__proto__', 'constructor', '0', '-1', 'a[b][c]', 'a[__proto__][x]', '1e999', '9007199254740993'])(
    'takes the field name %s for a name',
    async (name) => {
      expect(await parse(`${field(name, '1')}${end}`)).toEqual([{ kind: 'field', name, value: '1' }])
    },
  )

  test('changed at random is parsed or refused, and always ends', async () => {
    const whole = Buffer.from(`${field('chunk_size', '10')}${file('file', 'a.md', '# Title\r\n\r\ntext')}${end}`)
    const cut = fc.tuple(fc.nat(whole.length), fc.nat(40), fc.uint8Array({ maxLength: 12 }))
    await fc.assert(
      fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 4 }), async (cuts) => {
        let body = whole
        for (const [at, length, put] of cuts)
          body = Buffer.concat([body.subarray(0, at), put, body.subarray(at + length)])
        const outcome = await parseMultipart(body, type).catch((error: unknown) => error)
        expect(Array.isArray(outcome) || isAppError(outcome)).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  test('is read through the kernel', async () => {
    const kernel = testKernel([post('/x', async ({ body }) => json((await body.multipart()).length))])
    const send = (contentType: string, body: string) =>
      kernel.inject({ method: 'POST', url: '/x', headers: { 'content-type': contentType }, body })
    expect(await (await send(type, `${field('a', '1')}${end}`)).json()).toBe(1)
    expect((await send('application/json', '{}')).status).toBe(415)
    expect((await send(type, 'x')).status).toBe(400)
  })
})
