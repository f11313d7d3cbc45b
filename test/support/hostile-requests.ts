import fc from 'fast-check'

/*
 * Requests that no client of ours would send, made from the server's own OpenAPI document: every operation, with each
 * parameter and field as it should be, nearly so, or nothing like it.
 */

export interface HostileRequest {
  /** Of the document; names the operation in a finding. */
  operation: string
  method: string
  /** Path and query, as they go over the wire. */
  target: string
  headers: Record<string, string>
  body: Uint8Array | undefined
}

interface Schema {
  type?: string | string[]
  $ref?: string
  properties?: Record<string, Schema>
  items?: Schema
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const awkwardTexts = [
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'NaN',
  'null',
  'true',
  '..',
  '../../etc/passwd',
  'a/b',
  '\0',
  '\r\nX-Injected: 1',
  "' OR '1'='1",
  '"; DROP TABLE sessions; --',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '__proto__',
  'constructor',
  '\u001b]52;c;aGk=\u0007',
  '\u202e\u0301é👩‍👩‍👧‍👦\ud800',
  'x'.repeat(300),
  'x'.repeat(20_000),
]
const awkwardText = fc.oneof(fc.constantFrom(...awkwardTexts), fc.string({ unit: 'binary', maxLength: 40 }))
const awkwardNumber = fc.constantFrom(0, -1, 1.5, 1e308, -0, 2 ** 53, 100, 101, 20_001, 1e-7)
const anything = fc.oneof(
  { depthSize: 'small' },
  awkwardText,
  awkwardNumber,
  fc.constantFrom<unknown>(null, true, false, [], {}, [[]], { a: { b: [1] } }, { constructor: { prototype: {} } }),
  fc.jsonValue({ maxDepth: 4 }),
)
const contentTypes = [
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON;charset=utf-16le',
  'application/vnd.x+json',
  'text/plain',
  'text/plain; charset=latin1',
  'multipart/form-data; boundary=b',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  'application/json; charset=klingon',
  ';;;',
]
const headerValue = fc.string({ unit: fc.constantFrom(...'abc019 "*,;=/-:.é'), maxLength: 30 })

/** `ids` are those of things that exist, by the name of the path's first word; it may grow while requests are made. */
export function hostileRequests(
  document: OpenApiDocument,
  ids: ReadonlyMap<string, string[]>,
): fc.Arbitrary<HostileRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  return fc.constantFrom(...operations).chain(({ path, method, operation }) =>
    fc
      .record({
        method: fc.oneof(
          { weight: 20, arbitrary: fc.constant(method) },
          { weight: 1, arbitrary: fc.constantFrom('GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE') },
        ),
        target: targetOf(path, operation),
        headers: headersOf(operation),
        body: bodyOf(operation),
      })
      .map(({ body, headers, ...rest }) => ({ operation: operation.operationId, ...rest, headers, body })),
  )

  function targetOf(path: string, { parameters = [] }: Operation): fc.Arbitrary<string> {
    const things = path.split('/').find((part) => ids.has(part)) ?? ''
    const known = fc.nat().map((number) => {
      const some = ids.get(things) ?? []
      return some[number % Math.max(1, some.length)] ?? 'none'
    })
    const id = fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: awkwardText })
    const query = parameters.filter((parameter) => parameter.in === 'query')
    const pairs = fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom('agentId', 'x', ...query.map(({ name }) => name)), awkwardText),
        fc.oneof(awkwardText, fc.constantFrom('1', '100', 'true', 'FALSE', 'echo', '{"a":1}')),
      ),
      { maxLength: 4 },
    )
    const odd = fc.constantFrom('', '', '', '', '/', '//', '/%', '/%00', '%zz', '?', '?=&&=', '#', ';a=1')
    return fc.tuple(fc.array(id, { minLength: 3, maxLength: 3 }), pairs, odd).map(([values, given, end]) => {
      let next = 0
      const filled = path.replace(/\{\w+\}/g, () => percent(values[next++ % 3] ?? ''))
      const search = given.map(([name, value]) => `${percent(name)}=${percent(value)}`).join('&')
      return `${filled}${end}${search === '' ? '' : `?${search}`}`
    })
  }

  function bodyOf({ requestBody }: Operation): fc.Arbitrary<Uint8Array | undefined> {
    const schema = requestBody?.content['application/json']?.schema
    const raw = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .constantFrom(
          '{',
          '{"a":',
          '[1,2',
          '"\\ud800"',
          '\ufeff{}',
          '--b\r\nContent-Disposition: form-data; name="file"; filename="../../x"\r\n\r\ntext\r\n--b--\r\n',
          '--b\r\nContent-Disposition: form-data; name="a[0][b]"\r\n\r\n1\r\n--b--',
          '--b\r\nContent-Disposition: form-data; name="2147483648"\r\n\r\n1\r\n--b--',
          '--b\r\n\r\n--b',
          '[[[[[['.repeat(200),
        )
        .map(encode),
    )
    const value = schema === undefined ? anything : nearly(schema, 0)
    return fc.oneof(
      { weight: 6, arbitrary: value.map((body) => encode(JSON.stringify(body) ?? '')) },
      { weight: 2, arbitrary: raw },
      { weight: 1, arbitrary: fc.constant(undefined) },
    )
  }

  /** Mostly what the schema asks for, so that a request gets past the first check and something deeper is tried. */
  function nearly(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (depth > 6) return anything
    const reference = schema.$ref?.split('/').at(-1)
    if (reference !== undefined) return nearly(document.components.schemas[reference] ?? {}, depth + 1)
    const variants = schema.anyOf ?? schema.oneOf
    const right = variants ? fc.oneof(...variants.map((variant) => nearly(variant, depth + 1))) : exactly(schema, depth)
    return fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: anything })
  }

  function exactly(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
    const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
    if (schema.properties !== undefined) {
      const fields = Object.entries(schema.properties).map(([name, field]) => [name, nearly(field, depth + 1)] as const)
      return fc.record(Object.fromEntries(fields), { requiredKeys: [] })
    }
    if (type === 'array') return fc.array(nearly(schema.items ?? {}, depth + 1), { maxLength: 4 })
    if (type === 'string') return fc.oneof(fc.constantFrom('echo', 'known', 'user', 'text', '1'), awkwardText)
    if (type === 'integer' || type === 'number') return fc.oneof(fc.nat({ max: 100 }), awkwardNumber)
    if (type === 'boolean') return fc.boolean()
    return anything
  }
}

function headersOf(operation: Operation): fc.Arbitrary<Record<string, string>> {
  const own = (operation.parameters ?? []).filter((parameter) => parameter.in === 'header').map(({ name }) => name)
  const names = ['X-Request-Id', 'Accept', 'If-Match', 'Last-Event-ID', 'Idempotency-Key', 'Range', ...own]
  const more = fc.dictionary(fc.constantFrom(...names), headerValue, { maxKeys: 3 })
  return fc
    .tuple(
      fc.oneof(
        { weight: 5, arbitrary: fc.constant('application/json') },
        { weight: 2, arbitrary: fc.constantFrom(...contentTypes) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      ),
      more,
    )
    .map(([type, headers]) => (type === undefined ? headers : { 'Content-Type': type, ...headers }))
}

function percent(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Bytes that are no HTTP, or HTTP that a careful server refuses; each ends what the client says. */
export const hostileBytes: readonly string[] = [
  '',
  '\r\n\r\n',
  'GET',
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/9.9\r\nHost: localhost\r\n\r\n',
  'GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'get / http/1.1\r\nhost: localhost\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  'GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'GET //evil.example/%2e%2e/ HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'GET * HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  `GET / HTTP/1.1\r\nHost: localhost\r\n${'A: b\r\n'.repeat(200)}\r\n`,
  `GET / HTTP/1.1\r\nHost: localhost\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`,
  'GET / HTTP/1.1\r\nHost: localhost\r\nA : b\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: localhost\r\nA: \0\r\n\r\n',
  'GET / HTTP/1.1\nHost: localhost\n\n',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n{}',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nContent-Length: 2\r\n\r\n{}',
  'POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"a":',
  'HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /x HTTP/1.1\r\nHost: localhost\r\n\r\n',
]
