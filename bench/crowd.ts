import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../test/support/hostile/load.ts'
import type { RunningServer } from '../test/support/program.ts'
import { percentile } from './percentile.ts'

const healthyClients = 8
/** The server gives 10 s for headers and 30 s for a body, and the server looks every 2 s; a client gets a second to read why. */
const headersAllowedMs = 13_000
const bodyAllowedMs = 33_000

const aloneMs = 8_000

export interface SlowClients {
  /** Before and after. */
  aloneP99Ms: number
  besideP99Ms: number
  failed: number
  /** When the last of each kind was closed. */
  headersClosedMs: number
  bodiesClosedMs: number
  ok: boolean
}

/** So many clients of each kind that send a byte a second, beside others that work as always. */
export async function slowClients(server: RunningServer, ofEachKind: number): Promise<SlowClients> {
  const before = await healthy(server.url, sleep(aloneMs))
  const { hostname, port } = new URL(server.url)
  const startedAt = performance.now()
  const closed = (socket: Socket) => once(socket, 'close').then(() => performance.now() - startedAt)
  const slow = (begin: string, drop: string) =>
    Array.from({ length: ofEachKind }, () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {}).resume()
      socket.write(begin)
      const timer = setInterval(() => socket.write(drop), 1_000)
      socket.once('close', () => clearInterval(timer))
      return closed(socket)
    })
  const headers = slow('GET /health HTTP/1.1\r\nHost: localhost\r\n', 'A: b\r\n')
  const bodies = slow(
    'POST /api/v1/agents/echo/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
    ' ',
  )
  const allClosed = Promise.all([...headers, ...bodies])
  const beside = await healthy(server.url, allClosed)
  const headersClosedMs = Math.max(...(await Promise.all(headers)))
  const bodiesClosedMs = Math.max(...(await Promise.all(bodies)))
  const after = await healthy(server.url, sleep(aloneMs))
  const failed = before.failed + beside.failed + after.failed
  const aloneP99Ms = percentile([...before.times, ...after.times], 0.99)
  const besideP99Ms = percentile(beside.times, 0.99)
  return {
    aloneP99Ms,
    besideP99Ms,
    failed,
    headersClosedMs,
    bodiesClosedMs,
    ok:
      failed === 0 &&
      headersClosedMs <= headersAllowedMs &&
      bodiesClosedMs <= bodyAllowedMs &&
      besideP99Ms <= 2 * aloneP99Ms,
  }
}

async function healthy(url: string, until: Promise<unknown>): Promise<{ times: number[]; failed: number }> {
  let stopped = false
  void until.then(() => {
    stopped = true
  })
  const times: number[] = []
  let failed = 0
  const client = async () => {
    while (!stopped) {
      const startedAt = performance.now()
      const answer = await fetch(`${url}/api/v1/agents/echo/run`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"input":"hello"}',
      })
      await answer.arrayBuffer()
      if (answer.status !== 200) failed++
      times.push(performance.now() - startedAt)
      await sleep(10)
    }
  }
  await Promise.all(Array.from({ length: healthyClients }, client))
  return { times, failed }
}

export interface StalledReaders {
  complete: number
  stalled: number
  grownMb: number
  ok: boolean
}

/** So many readers of one run, half of which take nothing any more after the first bytes. */
export async function stalledReaders(server: RunningServer, readers: number): Promise<StalledReaders> {
  const answer = await fetch(`${server.url}/api/v1/agents/kilobytes/run`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ input: '2000', background: true }),
  })
  const { run_id } = (await answer.json()) as { run_id: string }
  const pid = server.child.pid ?? 0
  const before = await residentBytes(pid)
  let peak = before
  const timer = setInterval(() => void residentBytes(pid).then((now) => (peak = Math.max(peak, now))), 100)
  const { hostname, port } = new URL(server.url)
  const request = `GET /api/v1/runs/${run_id}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
  const ends: Promise<boolean>[] = []
  const stalled: Socket[] = []
  for (let index = 0; index < readers; index++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {}).write(request)
    if (index % 2 === 0) {
      let tail = ''
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        tail = (tail + chunk).slice(-400)
      })
      ends.push(once(socket, 'close').then(() => tail.includes('run_end')))
    } else {
      socket.once('data', () => socket.pause())
      stalled.push(socket)
    }
  }
  const complete = (await Promise.all(ends)).filter(Boolean).length
  clearInterval(timer)
  for (const socket of stalled) socket.destroy()
  const grownMb = (peak - before) / 2 ** 20
  return { complete, stalled: stalled.length, grownMb, ok: complete === ends.length && grownMb <= 200 }
}

/** Bodies of the largest size that take the longest, and the longest delay of the event loop while each was looked at. */
export async function worstBodies(server: RunningServer): Promise<{ name: string; delayMs: number; status: number }[]> {
  const results: { name: string; delayMs: number; status: number }[] = []
  // What is loaded for the first document is not its size's doing.
  await send(server, 'knowledge/content', '{"content":"A text about nothing much."}')
  for (const [name, body] of Object.entries(bodies())) {
    for (const path of ['agents/echo/run', 'knowledge/content']) {
      await sleep(300)
      await longestDelayMs(server)
      const status = await send(server, path, body)
      results.push({ name: `${name} to ${path}`, delayMs: await longestDelayMs(server), status })
    }
  }
  return results
}

async function send({ url }: RunningServer, path: string, body: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/api/v1/${path}`, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  return answer.status
}

/** Since it was asked for the last time. */
async function longestDelayMs({ url }: RunningServer): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1000
}

function bodies(): Record<string, string> {
  const most = 10 * 1024 * 1024 - 100
  const repeat = (text: string, count = Math.floor(most / text.length)) => text.repeat(count)
  const keys = (count: number, width: number) =>
    Array.from({ length: count }, (_, index) => `"${String(index).padStart(width, 'k')}":0`).join()
  return {
    'nested arrays': repeat('['),
    'empty objects': `[${repeat('{},', 99_000)}1]`,
    'as many keys as allowed': `{"input":"x","metadata":{${keys(24_500, 180)}}}`,
    'short keys': `{"input":"x","metadata":{${keys(24_500, 6)}}}`,
    'too many keys': `{${keys(190_000, 40)}}`,
    'escapes in one text': `{"input":"${repeat('\\u0041')}","content":"${''}"}`.slice(0, most),
    'one text': `{"input":"${repeat('é', most / 2 - 100)}"}`,
    'one text as content': `{"content":"${repeat('word ', most / 5 - 100)}"}`,
    numbers: `{"input":"x","metadata":{"a":[${repeat('1.7976931348623157e308,', 190_000)}1]}}`,
    'numbers as a part': `{"input":{"parts":[{"type":"data","data":[${repeat('1.7976931348623157e308,', 190_000)}1]}]}}`,
    'one number': `[${repeat('1')}]`,
    blanks: `${repeat(' ')}{}`,
  }
}
