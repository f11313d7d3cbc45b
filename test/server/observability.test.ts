import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../src/runnables/agent/agent.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const api = '/api/v1'
const secret = 'the-secret-words'
const lines: { level: string; fields: Record<string, unknown>; message: string | undefined }[] = []
const write = (level: string) => (fields: object, message?: string) =>
  void lines.push({ level, fields: { ...fields }, message })

let server: RunningTestServer
beforeAll(async () => {
  server = await startServer(
    { logger: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') } },
    {
      broken: agent({
        async *run() {
          yield secret
          throw new Error('no')
        },
      }),
    },
  )
})
afterAll(() => server.close())

const samples = async () => {
  const { text } = await server.call('GET', '/metrics')
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

test('each request is a line in the log that names its run and session, without a word of what was said', async () => {
  lines.length = 0
  const body = { input: secret }
  const plain = await server.call('POST', `${api}/agents/echo/run?q=${secret}`, body, { 'x-request-id': 'plain' })
  const stream = await server.call('POST', `${api}/agents/echo/run/stream`, body, { 'x-request-id': 'stream' })
  const failed = await server.call('POST', `${api}/agents/broken/run`, body, { 'x-request-id': 'failed' })
  await server.call('GET', `${api}/nothing`, undefined, { 'x-request-id': 'none' })
  const requests = lines.filter(({ message }) => message === 'request')
  expect(requests.map(({ level, fields: { duration_ms, ...fields } }) => [level, typeof duration_ms, fields])).toEqual([
    [
      'info',
      'number',
      {
        method: 'POST',
        path: `${api}/agents/echo/run`,
        status: 200,
        request_id: 'plain',
        run_id: plain.json.run_id,
        session_id: plain.json.session_id,
      },
    ],
    [
      'info',
      'number',
      {
        method: 'POST',
        path: `${api}/agents/echo/run/stream`,
        status: 200,
        request_id: 'stream',
        run_id: stream.headers.get('x-run-id'),
        session_id: stream.headers.get('x-session-id'),
      },
    ],
    [
      'info',
      'number',
      {
        method: 'POST',
        path: `${api}/agents/broken/run`,
        status: 500,
        code: 'run_failed',
        request_id: 'failed',
        run_id: failed.json.error.run_id,
        session_id: failed.json.error.session_id,
      },
    ],
    [
      'info',
      'number',
      { method: 'GET', path: `${api}/nothing`, status: 404, code: 'route_not_found', request_id: 'none' },
    ],
  ])
  expect(JSON.stringify(lines)).not.toContain(secret)
})

test('/metrics counts requests by route and runs by entity, and tells of the process', async () => {
  const before = await samples()
  for (const agentId of ['echo', 'echo', 'broken'])
    await server.call('POST', `${api}/agents/${agentId}/run`, { input: 'x' })
  for (const path of ['/one', '/two', '/"quoted"']) await server.call('GET', path)
  const after = await samples()
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  const route = `${api}/agents/:id/run`
  expect(grown(`agentserve_http_requests_total{method="POST",route="${route}",status="200"}`)).toBe(2)
  expect(grown(`agentserve_http_requests_total{method="POST",route="${route}",status="500"}`)).toBe(1)
  expect(grown('agentserve_http_requests_total{method="GET",route="none",status="404"}')).toBe(3)
  expect(grown(`agentserve_http_request_duration_seconds_count{route="${route}"}`)).toBe(3)
  expect(grown(`agentserve_http_request_duration_seconds_bucket{route="${route}",le="+Inf"}`)).toBe(3)
  expect(grown('agentserve_runs_total{entity="echo",status="completed"}')).toBe(2)
  expect(grown('agentserve_runs_total{entity="broken",status="failed"}')).toBe(1)
  expect(grown('agentserve_run_duration_seconds_count{entity="echo"}')).toBe(2)
  expect(after.get('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(after.get('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect([...after.values()].every(Number.isFinite)).toBe(true)
})

test('the buckets of a histogram only grow', async () => {
  const all = [...(await samples())].filter(([name]) =>
    name.startsWith('agentserve_run_duration_seconds_bucket{entity="echo"'),
  )
  expect(all.length).toBeGreaterThan(5)
  const counts = all.map(([, count]) => count)
  expect(counts).toEqual(counts.toSorted((a, b) => a - b))
})

test('/metrics is in the text format of Prometheus, and needs a key where there are keys', async () => {
  const { headers, text } = await server.call('GET', '/metrics')
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(text).toMatch(/^# HELP /)
  expect(text.endsWith('\n')).toBe(true)
  const locked = await startServer({ auth: { keys: ['k'] } })
  try {
    expect((await locked.call('GET', '/metrics')).status).toBe(401)
    expect((await locked.call('GET', '/metrics', undefined, { 'x-api-key': 'k' })).status).toBe(200)
  } finally {
    await locked.close()
  }
})
