import { readFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { type HostileRequest, hostileBytes, hostileRequests, type OpenApiDocument } from './hostile-requests.ts'

export interface HostileFindings {
  requests: number
  /** How often each status came. */
  statuses: Map<number, number>
  /** What should not be, a line each. */
  wrong: string[]
}

/** What may be 500 and above: decisions.md says so, and a client can ask for it. */
const decided = new Map([[501, 'summary_not_configured']])
const sampleAtOnce = 250
const atOnce = 8
const keptIds = 40
const answerBytes = 4 * 1024 * 1024

/** Puts `count` hostile requests on a server that has the agent `echo`, all of them determined by `seed`. */
export async function sendHostile(url: string, count: number, seed: number): Promise<HostileFindings> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument
  const ids = new Map([
    ['sessions', ['known', 'other']],
    ['agents', ['echo', 'docs']],
    ['a2a', ['echo']],
    ['runs', []],
    ['documents', []],
  ] as [string, string[]][])
  const requests = hostileRequests(document, ids)
  const findings: HostileFindings = { requests: 0, statuses: new Map(), wrong: [] }
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
          await sendOne(url, agent, next, findings, ids)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      findings.requests += sample.length
    }
    for (const bytes of hostileBytes) {
      findings.requests++
      await sendBytes(url, bytes, findings)
    }
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
): Promise<void> {
  const say = (what: string) => findings.wrong.push(`${what}: ${describe(hostile)}`)
  let answer: { status: number; headers: IncomingMessage['headers']; text: string }
  try {
    answer = await send(url, agent, hostile)
  } catch (error) {
    // The client itself refuses a header that can't be sent.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_INVALID_CHAR') say(`no answer (${String(error)})`)
    return
  }
  const { status, headers, text } = answer
  findings.statuses.set(status, (findings.statuses.get(status) ?? 0) + 1)
  const body = headers['content-type']?.includes('json') === true && text !== '' ? parse(text) : undefined
  if (headers['x-request-id'] === undefined) say('no request id')
  if (headers['x-content-type-options'] !== 'nosniff') say('no nosniff')
  if (status >= 500 && decided.get(status) !== body?.error?.code) say(`${status} ${text.slice(0, 300)}`)
  if (status >= 400 && hostile.method !== 'HEAD') {
    const isJsonRpc = body?.jsonrpc === '2.0' && typeof body.error?.code === 'number'
    const isOurs =
      typeof body?.error?.code === 'string' && body.error.message && body.request_id === headers['x-request-id']
    if (!isJsonRpc && !isOurs) say(`${status} in another shape: ${text.slice(0, 300)}`)
  }
  if (/\n\s+at \S+ \(/.test(text) || text.includes('node_modules')) say('a stack trace')
  if (status < 300) {
    learn(ids.get('sessions'), body?.session_id)
    learn(ids.get('runs'), body?.run_id)
    learn(ids.get('documents'), body?.document_id)
  }
}

function learn(ids: string[] | undefined, id: unknown): void {
  if (ids !== undefined && typeof id === 'string' && ids.push(id) > keptIds) ids.shift()
}

function send(url: string, agent: Agent, { method, target, headers, body }: HostileRequest) {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    // A GET's body would go without a length, and be taken for the next request.
    const framed = body === undefined ? headers : { ...headers, 'Content-Length': String(body.length) }
    const asked = request({ agent, hostname, port, method, path: target, headers: framed }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        // A stream of events that goes on is not waited for.
        if (text.length > answerBytes) asked.destroy()
      })
      response.on('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.on('error', () => {})
    })
    asked.on('error', reject)
    asked.end(body)
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
  findings.statuses.set(status, (findings.statuses.get(status) ?? 0) + 1)
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
