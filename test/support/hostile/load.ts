import { readFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { hostileBytes } from './bytes.ts'
import { type Keys, soundChallenge } from './callers.ts'
import { neverWhole } from './imports.ts'
import { type HostileRequest, hostileRequests, type OpenApiDocument } from './requests.ts'

export interface HostileFindings {
  requests: number
  /** How often each status came. */
  statuses: Map<number, number>
  /** How often each code came with an error, after its status. */
  codes: Map<string, number>
  /** What should not be, a line each. */
  wrong: string[]
}

const forEverybody = new Set([
  'getProtectedResource',
  'getProtectedResourceOfMcp',
  'getHealth',
  'getReadiness',
  'getHome',
  'getDocs',
  'getDocsAsset',
  'getStudio',
  'getStudioAsset',
])
const forOperators = new Set(['exportUser', 'eraseUser', 'getBackup', 'getMetrics'])
const sampleAtOnce = 250
const atOnce = 8
const keptIds = 40
const answerBytes = 4 * 1024 * 1024

/**
 * Puts `count` hostile requests on a server that has the agent `echo`, all of them determined by `seed`. With `keys`, the
 * server asks for one of them.
 */
export async function sendHostile(url: string, count: number, seed: number, keys?: Keys): Promise<HostileFindings> {
  const asOperator: Record<string, string> = keys === undefined ? {} : { 'X-API-Key': keys.operator }
  const read = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${url}${path}`, {
      ...init,
      headers: { 'Content-Type': 'application/json', ...asOperator },
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.text()
  }
  const document = JSON.parse(await read('/openapi.json')) as OpenApiDocument
  const body = JSON.stringify({ input: 'Hello', user_id: 'ann', metadata: { a: { b: [1] } } })
  const run = JSON.parse(await read('/api/v1/agents/echo/run', { method: 'POST', body })) as Record<string, string>
  const copy = await read(`/api/v1/sessions/${run.session_id}/export`)
  const ids = new Map([
    ['sessions', ['known', 'other', neverWhole, run.session_id ?? '']],
    ['agents', ['echo', 'docs']],
    ['a2a', ['echo']],
    ['runs', [run.run_id ?? '']],
    ['documents', []],
    ['users', ['ann', 'bob', 'echo']],
    ['kind', ['user', 'agent', 'team', 'workflow']],
    ['user_id', ['ann', 'bob', 'echo']],
    ['owner_id', ['ann', 'bob', 'echo']],
  ] as [string, string[]][])
  const requests = hostileRequests({ document, ids, copy, keys })
  const findings: HostileFindings = { requests: 0, statuses: new Map(), codes: new Map(), wrong: [] }
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  try {
    while (findings.requests < count) {
      const sample = fc.sample(requests, {
        numRuns: Math.min(sampleAtOnce, count - findings.requests),
        seed: seed + findings.requests,
      })
      const waiting = [...sample]
      const worker = async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          await sendOne(url, agent, next, findings, ids, keys !== undefined)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      findings.requests += sample.length
    }
    for (const bytes of hostileBytes) {
      findings.requests++
      await sendBytes(url, bytes, findings)
    }
    const { status } = await fetch(`${url}/api/v1/sessions/${neverWhole}`, { headers: asOperator })
    if (status !== 404) findings.wrong.push(`${status} for a session whose import was never whole`)
  } finally {
    agent.destroy()
  }
  return findings
}

async function sendOne(
  url: string,
  agent: Agent,
  hostile: HostileRequest,
  findings: HostileFindings,
  ids: ReadonlyMap<string, string[]>,
  guarded: boolean,
): Promise<void> {
  const say = (what: string) => findings.wrong.push(`${what}: ${describe(hostile)}`)
  let answer: Answer | undefined
  try {
    answer = await send(url, agent, hostile)
  } catch (error) {
    // The client itself refuses a header that can't be sent.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_INVALID_CHAR') say(`no answer (${String(error)})`)
    return
  }
  if (answer === undefined) return
  const { status, headers, text } = answer
  count(findings.statuses, status)
  const body = headers['content-type']?.includes('json') === true && text !== '' ? parse(text) : undefined
  const isChat = headers['content-type']?.startsWith('text/plain') === true
  const code = body?.error?.code ?? (isChat ? headers['x-error-code'] : undefined)
  if (status >= 400 && hostile.method !== 'HEAD') count(findings.codes, `${status} ${code}`)
  if (guarded) for (const what of wrongRights(hostile, answer, code)) say(what)
  const isProved = headers['x-agentserve-proof'] !== undefined
  if (isProved && !soundChallenge.test(hostile.headers['X-Agentserve-Challenge'] ?? '')) say('a proof of nothing')
  if (headers['x-request-id'] === undefined) say('no request id')
  if (headers['x-content-type-options'] !== 'nosniff') say('no nosniff')
  // Nothing is missing here, full or slow: whatever a client sends, it is not the server that fails.
  if (status >= 500) say(`${status} ${text.slice(0, 300)}`)
  if (status >= 400 && hostile.method !== 'HEAD') {
    const isJsonRpc = body?.jsonrpc === '2.0' && typeof body.error?.code === 'number'
    const isOurs =
      typeof body?.error?.code === 'string' && body.error.message && body.request_id === headers['x-request-id']
    // The HTTP binding of A2A.
    const isOfRest = body?.error?.code === status && typeof body.error.status === 'string'
    // To useChat, an error is one sentence.
    const isSentence = isChat && typeof code === 'string' && text !== ''
    const isOfOpenAI = typeof body?.error?.type === 'string' && body.error.message && body.error.param !== undefined
    const isKnown = isJsonRpc || isOfRest || isOurs || isSentence || (isOfOpenAI && hostile.target.startsWith('/v1'))
    if (!isKnown) say(`${status} in another shape: ${text.slice(0, 300)}`)
  }
  if (/\n\s+at \S+ \(/.test(text) || text.includes('node_modules')) say('a stack trace')
  if (status < 300) {
    learn(ids.get('sessions'), body?.session_id)
    learn(ids.get('runs'), body?.run_id)
    learn(ids.get('documents'), body?.document_id)
  }
}

/** Who may do what, and when an address is refused. */
function wrongRights({ operation, method, right }: HostileRequest, answer: Answer, code: unknown): string[] {
  const wrong: string[] = []
  const { status, headers } = answer
  if (right !== 'none' && status === 401) wrong.push('401 with a right key')
  // A key has a few live streams at once.
  if (right !== 'none' && status === 429 && operation !== 'live') wrong.push('429 with a right key')
  if (status === 429 && headers['retry-after'] === undefined) wrong.push('429 without Retry-After')
  // A JSON-RPC error has a number instead, and OpenAI a word of its own.
  const isTold = code === 'rate_limited' || code === 'rate_limit_exceeded' || typeof code === 'number'
  if (status === 429 && method !== 'HEAD' && !isTold) wrong.push('a 429 without code')
  if (status >= 300 || method === 'OPTIONS') return wrong
  if (right === 'none' && !forEverybody.has(operation)) wrong.push(`${status} without a key`)
  if (right === 'user' && forOperators.has(operation)) wrong.push(`${status} for a user`)
  return wrong
}

function count<T>(counts: Map<T, number>, what: T): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

function learn(ids: string[] | undefined, id: unknown): void {
  if (ids !== undefined && typeof id === 'string' && ids.push(id) > keptIds) ids.shift()
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

/** Undefined when the request was cut before there was an answer. */
function send(url: string, agent: Agent, { method, target, headers, body, framing }: HostileRequest) {
  return new Promise<Answer | undefined>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const isCut = framing === 'cut' && body !== undefined
    const length = (body?.length ?? 0) + (isCut ? 10 : 0)
    // A GET's body would go without a length, and be taken for the next request.
    const frame: Record<string, string> =
      framing === 'chunked' ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(length) }
    const framed = body === undefined ? headers : { ...headers, ...frame }
    const asked = request({ agent, hostname, port, method, path: target, headers: framed }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        // A stream of events that goes on is not waited for.
        if (text.length > answerBytes || text.includes('event: hello\n')) asked.destroy()
      })
      response.on('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.on('error', () => {})
    })
    asked.on('error', (error) => (isCut ? resolve(undefined) : reject(error)))
    if (isCut) asked.write(body, () => asked.destroy())
    else asked.end(body)
  })
}

async function sendBytes(url: string, bytes: string, findings: HostileFindings): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.setEncoding('latin1').on('error', () => {})
  socket.end(Buffer.from(bytes, 'latin1'))
  for await (const chunk of socket) answer += chunk
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0)
  count(findings.statuses, status)
  if (status >= 500) findings.wrong.push(`${status} for the bytes ${JSON.stringify(bytes.slice(0, 80))}`)
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function describe({ operation, method, target, headers, body }: HostileRequest): string {
  const shown = body === undefined ? '' : ` ${JSON.stringify(new TextDecoder().decode(body.subarray(0, 400)))}`
  return `${operation} ${method} ${target.slice(0, 300)} ${JSON.stringify(headers)}${shown}`
}

/** Bytes of memory that a process has now, from /proc. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}
