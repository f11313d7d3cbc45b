import fc from 'fast-check'
import { type HostileCaller, hostileCallers, type Keys, type Right } from './callers.ts'
import { copyMediaType, hostileImports } from './imports.ts'

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
  /** How the body goes: with its length, in chunks, or so that it ends before it is whole. */
  framing: 'length' | 'chunked' | 'cut'
  /** Whose key it has. */
  right: Right
}

/** What a server has, for requests to name. */
export interface HostileTarget {
  document: OpenApiDocument
  /** Of things that exist, by the name of the path's first word; may grow while requests are made. */
  ids: ReadonlyMap<string, string[]>
  /** An export of a session with a run. */
  copy: string
  /** Undefined: it asks for none. */
  keys: Keys | undefined
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
const oversized = fc
  .constantFrom(64 * 1024 - 8, 64 * 1024 + 1, 1024 * 1024 + 1)
  .map((bytes) => ({ a: 'x'.repeat(bytes) }))
const oddEnds = ['/', '//', '/%', '/%00', '%zz', '?', '?=&&=', '#', ';a=1']
/** How often they are chosen, where it is not once: what takes a file or is about everybody. */
const shares: Record<string, number> = { importSession: 8, exportUser: 2, eraseUser: 2, unshareSession: 2 }
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

export function hostileRequests({ document, ids, copy, keys }: HostileTarget): fc.Arbitrary<HostileRequest> {
  const some = (things: string) => ids.get(things) ?? []
  const names = { sessions: some('sessions'), runs: some('runs'), users: some('users') }
  const imports = hostileImports(copy, names, anything)
  const callers = hostileCallers(keys)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const shared = operations.map((arbitrary) => ({
    weight: shares[arbitrary.operation.operationId] ?? 1,
    arbitrary: fc.constant(arbitrary),
  }))
  return fc.oneof(...shared).chain(({ path, method, operation }) =>
    fc
      .record({
        method: fc.oneof(
          { weight: 20, arbitrary: fc.constant(method) },
          { weight: 1, arbitrary: fc.constantFrom('GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE') },
        ),
        target: targetOf(path, operation),
        headers: headersOf(operation),
        body: operation.operationId === 'importSession' ? imports : bodyOf(operation),
        framing: fc.oneof(
          { weight: 14, arbitrary: fc.constant('length' as const) },
          { weight: 3, arbitrary: fc.constant('chunked' as const) },
          { weight: operation.operationId === 'importSession' ? 5 : 1, arbitrary: fc.constant('cut' as const) },
        ),
        caller: callers,
      })
      .map(({ caller, ...rest }) => called(operation, rest, caller)),
  )

  function targetOf(path: string, { parameters = [] }: Operation): fc.Arbitrary<string> {
    const things = path.split('/').find((part) => ids.has(part)) ?? ''
    const id = (name: string) => {
      const known = fc.nat().map((number) => {
        const known = some(ids.has(name) ? name : things)
        return known[number % Math.max(1, known.length)] ?? 'none'
      })
      return fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: awkwardText })
    }
    const values = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => id(name))
    const query = parameters.filter((parameter) => parameter.in === 'query')
    const pairs = fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom('agentId', 'x', ...query.map(({ name }) => name)), awkwardText),
        fc.oneof(awkwardText, fc.constantFrom('1', '100', 'true', 'FALSE', 'echo', '{"a":1}')),
      ),
      { maxLength: 4 },
    )
    const odd = fc.oneof(
      { weight: 9, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.constantFrom(...oddEnds) },
    )
    return fc.tuple(fc.tuple(...values), pairs, odd).map(([given, pairs, end]) => {
      let next = 0
      const filled = path.replace(/\{\w+\}/g, () => percent(given[next++] ?? ''))
      const search = pairs.map(([name, value]) => `${percent(name)}=${percent(value)}`).join('&')
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
      const fields = Object.entries(schema.properties).map(([name, field]) => {
        const sound = nearly(field, depth + 1)
        if (name !== 'metadata' && name !== 'state') return [name, sound] as const
        return [name, fc.oneof({ weight: 9, arbitrary: sound }, { weight: 1, arbitrary: oversized })] as const
      })
      return fc.record(Object.fromEntries(fields), { requiredKeys: [] })
    }
    if (type === 'array') return fc.array(nearly(schema.items ?? {}, depth + 1), { maxLength: 4 })
    if (type === 'string') return fc.oneof(fc.constantFrom('echo', 'known', 'user', 'text', '1'), awkwardText)
    if (type === 'integer' || type === 'number') return fc.oneof(fc.nat({ max: 100 }), awkwardNumber)
    if (type === 'boolean') return fc.boolean()
    return anything
  }
}

/** A copy goes as what it is, mostly; the caller's headers win over those that chance has put there. */
function called(
  { operationId: operation }: Operation,
  { headers, ...rest }: Omit<HostileRequest, 'operation' | 'right'>,
  caller: HostileCaller,
): HostileRequest {
  const isCopy = operation === 'importSession' && headers['Content-Type'] === 'application/json'
  const type: Record<string, string> = isCopy ? { 'Content-Type': copyMediaType } : {}
  return { operation, ...rest, headers: { ...headers, ...type, ...caller.headers }, right: caller.right }
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
