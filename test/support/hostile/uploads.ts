import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { createServer } from '../../../src/server.ts'

const type = 'multipart/form-data; boundary=line'
const part = (head: string, body: string) => `--line\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`
const end = '--line--\r\n'

const fieldNames = fc.constantFrom(
  'chunk_size',
  'metadata',
  'source',
  'name',
  '__proto__',
  'constructor[prototype][x]',
  'a[b][c]',
  '0',
  '-1',
  '1e999',
  '9007199254740993',
  '',
)
const fieldValues = fc.constantFrom(
  '10',
  '{"a":1}',
  '{"__proto__":{"x":1}}',
  '../../up.md',
  'x'.repeat(5_000),
  '\0',
  '',
)
const fileNames = fc.constantFrom(
  'a.md',
  '../../../up.md',
  '/etc/passwd',
  'C:\\up.md',
  'a\0b.md',
  'x'.repeat(3_000),
  '',
  '"; filename="b',
  '.env',
)
const types = fc.constantFrom(
  type,
  'multipart/form-data',
  'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'x'.repeat(80)}`,
  'multipart/form-data; boundary=other',
)
const form = fc
  .tuple(
    fc.array(fc.tuple(fieldNames, fieldValues), { maxLength: 4 }),
    fileNames,
    fc.string({ maxLength: 60 }),
    fc.nat(40),
  )
  .map(([fields, filename, content, header]) => {
    const padding = header === 0 ? `\r\nX-Large: ${'h'.repeat(40_000)}` : ''
    const all = fields.map(([name, value]) => part(`name="${name}"`, value)).join('')
    return Buffer.from(`${all}${part(`name="file"; filename="${filename}"${padding}`, `# ${content} words`)}${end}`)
  })
const changes = fc.array(
  fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(30), fc.uint8Array({ maxLength: 8 })),
  {
    maxLength: 3,
  },
)

const expected = new Set([200, 201, 400, 413, 415, 422])

/** Posts so many broken uploads to a server; what went wrong: other statuses, files outside its data folder. */
export async function findUploadDamage(count: number): Promise<{ wrong: string[]; statuses: Record<number, number> }> {
  const folder = await mkdtemp(join(tmpdir(), 'uploads-'))
  const before = await readdir('.')
  const server = createServer({ vectorDb: { type: 'lancedb', baseUrl: join(folder, 'data') }, logger: silent })
  const wrong: string[] = []
  const statuses: Record<number, number> = {}
  await fc.assert(
    fc.asyncProperty(
      form,
      changes,
      fc.oneof({ weight: 9, arbitrary: fc.constant(type) }, types),
      async (whole, cuts, kind) => {
        let body = whole
        for (const [place, length, put] of cuts) {
          const at = Math.floor(place * body.length)
          body = Buffer.concat([body.subarray(0, at), put, body.subarray(at + length)])
        }
        const request = { method: 'POST', url: '/api/v1/knowledge/content', headers: { 'content-type': kind }, body }
        const { status } = await server.inject(request)
        statuses[status] = (statuses[status] ?? 0) + 1
        if (!expected.has(status)) wrong.push(`${status} for ${JSON.stringify(body.toString('latin1').slice(0, 300))}`)
      },
    ),
    { numRuns: count },
  )
  if ((await server.inject({ method: 'GET', url: '/health' })).status !== 200) wrong.push('the server is not healthy')
  await server.shutdown()
  const beside = (await readdir(folder)).filter((name) => name !== 'data')
  const added = (await readdir('.')).filter((name) => !before.includes(name))
  wrong.push(...[...beside, ...added].map((name) => `a file outside: ${name}`))
  await rm(folder, { recursive: true, force: true })
  return { wrong, statuses }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }
