import { afterEach, expect, it } from 'vitest'
import type { ServerConfig } from '../../src/config/types.ts'
import { agent } from '../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { againstConventions } from '../support/gen-ai-conventions.ts'
import { type OtlpReceiver, openReceiver } from '../support/otlp-receiver.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

const api = '/api/v1'
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const lines: { message: string | undefined; fields: Record<string, unknown> }[] = []
const write = (fields: object, message?: string) => void lines.push({ message, fields: { ...fields } })
const logger = { debug: () => {}, info: write, warn: write, error: write }

async function open(telemetry: Exclude<ServerConfig['telemetry'], false | undefined> = {}, more: ServerConfig = {}) {
  lines.length = 0
  const receiver = await openReceiver()
  closing.push(() => receiver.close())
  const server = await startServer(
    {
      sessionStorage: 'memory',
      vectorDb: { type: 'memory' },
      logger,
      telemetry: { endpoint: receiver.url, ...telemetry },
      ...more,
    },
    { helper: agent({ model: scriptedModel(({ text }) => `You said ${text}`) }) },
  )
  closing.push(() => server.close())
  return { receiver, server, run: (input: string) => runOf(server, input) }
}

const runOf = async (server: RunningTestServer, input: string) =>
  (await server.call('POST', `${api}/agents/helper/run`, { input })).json
const asSdk = (receiver: OtlpReceiver) =>
  receiver.spans.map(({ kind, status, ...same }) => ({ ...same, kind: kind - 1, status: { code: status.code ?? 0 } }))
const samples = async (server: RunningTestServer) =>
  (await server.call('GET', '/metrics')).text.split('\n').filter((line) => line.startsWith('agentserve_span'))

it('sends spans to an OTLP collector over HTTP, in the background and as the conventions want them', async () => {
  const { receiver, run, server } = await open({ serviceName: 'agents', headers: { 'x-tenant': 'me' } })
  const { run_id, session_id } = await run('Hi')
  await expect.poll(() => receiver.spans.length).toBe(2)
  expect(receiver.requests[0]?.path).toBe('POST /v1/traces')
  expect(receiver.requests[0]?.headers).toMatchObject({ 'x-tenant': 'me', 'content-type': 'application/json' })
  expect(receiver.resources[0]).toMatchObject({ 'service.name': 'agents' })
  expect(againstConventions(asSdk(receiver))).toEqual([])
  const [whole, chat] = receiver.spans
  expect(whole).toMatchObject({
    name: 'invoke_agent helper',
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    attributes: { 'agentserve.run.id': run_id, 'gen_ai.conversation.id': session_id },
  })
  expect(chat).toMatchObject({ traceId: whole?.traceId, parentSpanId: whole?.spanId, name: 'chat scripted' })
  const record = await server.server.services.runs.get(run_id)
  expect(Number(BigInt(whole?.startTimeUnixNano ?? 0) / 1_000_000n)).toBe(Date.parse(record.started_at ?? ''))
  expect(await samples(server)).toEqual([
    'agentserve_spans_exported_total 2',
    'agentserve_spans_failed_total 0',
    'agentserve_span_runs_dropped_total 0',
  ])
})

it('sends what is left when the server stops', async () => {
  const { receiver, run, server } = await open()
  await run('Hi')
  await server.close()
  expect(receiver.spans).toHaveLength(2)
})

it('answers runs as ever while the collector refuses their spans, and says so once', async () => {
  const { receiver, run, server } = await open()
  receiver.answer = 400
  for (let round = 1; round <= 2; round++) {
    expect((await run('Hi')).content).toBe('You said Hi')
    await expect.poll(() => receiver.requests.length).toBe(round)
  }
  await expect.poll(async () => (await samples(server))[1]).toBe('agentserve_spans_failed_total 4')
  const dropped = lines.filter(({ message }) => message?.startsWith('spans are dropped'))
  expect(dropped.map(({ fields }) => fields.reason)).toEqual(['The collector did not take them.'])
  receiver.answer = 200
  await run('Hi')
  await expect.poll(() => lines.some(({ message }) => message === 'spans are exported again')).toBe(true)
})

it('stops within its limit while the collector gives no answer', async () => {
  const { receiver, run, server } = await open()
  receiver.answer = 'hang'
  expect((await run('Hi')).content).toBe('You said Hi')
  await server.close()
  expect(lines.map(({ message }) => message)).toContain('the last spans were not exported in time')
})

it('has no numbers of spans without telemetry', async () => {
  const { server } = await open({}, { telemetry: false })
  expect(await samples(server)).toEqual([])
})
