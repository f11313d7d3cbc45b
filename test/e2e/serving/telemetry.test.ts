import { afterEach, beforeEach, expect, it } from 'vitest'
import { againstConventions } from '../../support/gen-ai-conventions.ts'
import { type OtlpReceiver, openReceiver, type ReceivedSpan } from '../../support/otlp-receiver.ts'
import { installPacked } from '../../support/packed.ts'
import { command, createProject, type Project, serve } from '../../support/program.ts'

const config = `
import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { agent, defineConfig, workflow } from 'agentserve'

export default defineConfig({
  agents: {
    // Hangs when it runs for the first time.
    slow: agent({
      async *run({ signal }) {
        yield 'begun '
        if (existsSync('hung')) return yield 'ended'
        writeFileSync('hung', '')
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      },
    }),
    loaded: agent({
      run: () => String(Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes('@opentelemetry')).length),
    }),
  },
  workflows: {
    report: workflow({ run: async ({ step, ask }) => (await step('first', () => 'one ')) + (await ask('slow', 'Go')).text }),
  },
})
`
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
const json = { 'content-type': 'application/json' }

let project: Project
let receiver: OtlpReceiver
beforeEach(async () => {
  project = await createProject({ 'agent.config.ts': config })
  receiver = await openReceiver()
})
afterEach(async () => {
  await receiver.close()
  await project.remove()
})

/** `name` below the name of its parent. */
function tree(all: readonly ReceivedSpan[]): string[] {
  const pathOf = (span: ReceivedSpan): string => {
    const parent = all.find(({ spanId }) => spanId === span.parentSpanId)
    return parent === undefined ? span.name : `${pathOf(parent)} > ${span.name}`
  }
  return all.map(pathOf).sort()
}

it('runs that die with their process have spans after the restart, and resume in the same trace', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SERVICE_NAME: 'reports' }
  let server = await serve(project, 'start', [], env)
  const body = JSON.stringify({ input: 'Go', background: true })
  const headers = { ...json, traceparent }
  const started = await fetch(`${server.url}/api/v1/agents/report/run`, { method: 'POST', headers, body })
  const { run_id } = (await started.json()) as { run_id: string }
  const events = async () => (await fetch(`${server.url}/api/v1/runs?parent_run_id=${run_id}`)).text()
  await expect.poll(events).toContain('"running"')
  await expect.poll(async () => (await project.read('hung').catch(() => 'not yet')) === '').toBe(true)
  await server.kill()
  expect(receiver.spans).toEqual([])

  server = await serve(project, 'start', [], env)
  const cut = ['invoke_workflow report', 'invoke_workflow report > step first', 'invoke_workflow report > step slow']
  const cutChild = 'invoke_workflow report > step slow > invoke_agent slow'
  await expect.poll(() => tree(receiver.spans)).toEqual([...cut, cutChild])
  const failures = receiver.spans.map(({ name, attributes }) => [name, attributes['error.type']])
  expect(Object.fromEntries(failures)).toEqual({
    'invoke_workflow report': 'interrupted',
    'step first': undefined,
    'step slow': 'interrupted',
    'invoke_agent slow': 'interrupted',
  })
  const [before] = receiver.spans.filter(({ name }) => name === 'invoke_workflow report')

  await fetch(`${server.url}/api/v1/runs/${run_id}/resume`, { method: 'POST', headers: json, body: '{}' })
  await server.stop()
  expect(tree(receiver.spans)).toEqual(
    [...cut, cutChild, 'invoke_workflow report', 'invoke_workflow report > step slow', cutChild].sort(),
  )
  for (const span of receiver.spans) expect(span.traceId).toBe(traceId)
  const resumed = receiver.spans.filter(({ name }) => name === 'invoke_workflow report')[1]
  expect(resumed?.attributes['agentserve.run.status']).toBe('completed')
  expect(resumed?.links.map(({ spanId }) => spanId)).toEqual([before?.spanId])
  expect(resumed?.parentSpanId).toBe(before?.parentSpanId)
  expect(receiver.resources.every((resource) => resource['service.name'] === 'reports')).toBe(true)
  const asSdk = receiver.spans.map(({ kind, status, ...same }) => ({
    ...same,
    kind: kind - 1,
    status: { code: status.code ?? 0 },
  }))
  expect(againstConventions(asSdk)).toEqual([])
})

it('a command exports its run before it ends', async () => {
  await project.write('hung', '')
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/of/traces` }
  const asked = await command(project, ['chat', 'slow', '--message', 'Go'], '', env)
  expect([asked.code, asked.stdout.trim()]).toEqual([0, 'begun ended'])
  expect(receiver.requests.map(({ path }) => path)).toEqual(['POST /of/traces'])
  expect(tree(receiver.spans)).toEqual(['invoke_agent slow'])
})

it('nothing of OpenTelemetry is loaded without an endpoint', async () => {
  const loadedWith = async (env: Record<string, string>) => {
    const { code, stdout } = await command(project, ['chat', 'loaded', '--message', 'Go'], '', env)
    expect(code).toBe(0)
    return Number(stdout)
  }
  expect(await loadedWith({ OTEL_SERVICE_NAME: 'agents' })).toBe(0)
  expect(await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url })).toBeGreaterThan(0)
})

it('without the package start and doctor name the command that adds it, and runs go on', async () => {
  const installed = await installPacked()
  const bare: Project = { ...project, folder: installed.folder, bin: installed.bin }
  try {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const fix = 'npm install @opentelemetry/exporter-trace-otlp-http'
    const server = await serve(bare, 'start', [], env)
    const body = JSON.stringify({ input: 'Hi' })
    const answer = await fetch(`${server.url}/api/v1/agents/echo/run`, { method: 'POST', headers: json, body })
    expect(answer.status).toBe(200)
    const { stderr } = await server.stop()
    expect(stderr.split('\n').filter((line) => line.includes('no spans are exported'))).toEqual([
      expect.stringContaining(`Run: ${fix}`),
    ])
    const findings = async (environment: Record<string, string>) => {
      const { stdout } = await command(bare, ['doctor', '--json'], '', environment)
      const all = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { check: string; state: string })
      return all.filter(({ check }) => check === 'telemetry')
    }
    expect(await findings(env)).toEqual([
      { check: 'telemetry', state: 'warning', message: expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT'), fix },
    ])
    expect(await findings({})).toEqual([])
    expect(receiver.requests).toEqual([])
  } finally {
    await installed.remove()
  }
})
