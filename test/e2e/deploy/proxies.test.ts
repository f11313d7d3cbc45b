import { join } from 'node:path'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, onTestFailed, onTestFinished, test } from 'vitest'
import { resolveConfig } from '../../../src/config/resolve.ts'
import { configParts } from '../../../src/server.ts'
import { findProgram, milliseconds, readDeployed } from '../../support/deploy/files.ts'
import { proxies, startProxyOf } from '../../support/deploy/proxies.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { findPort } from '../../support/postgres/port.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { certificate, key } from '../../support/postgres/tls-proxy.ts'
import { createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const name = 'agents.example.com'
const { server: usual } = resolveConfig({ user: { agents: {} }, root: '/', purpose: 'program', parts: configParts })

test('the configurations allow what the server does: its largest body, and its longest silence', () => {
  const nginx = readDeployed('nginx.conf')
  const setting = (directive: string) => new RegExp(`^\\s*${directive} (.*);$`, 'm').exec(nginx)?.[1] ?? ''
  expect(Number.parseInt(setting('client_max_body_size'), 10) * 1024 ** 2).toBe(usual.maxRequestBytes)
  expect(milliseconds(setting('proxy_read_timeout'))).toBeGreaterThan(usual.runTimeoutMs)
  expect(setting('proxy_buffering')).toBe('off')
  const caddy = readDeployed('Caddyfile')
  expect(Number(/max_size (\d+)MiB/.exec(caddy)?.[1]) * 1024 ** 2).toBe(usual.maxRequestBytes)
  expect(milliseconds(/response_header_timeout (\w+)/.exec(caddy)?.[1] ?? '')).toBeGreaterThan(usual.runTimeoutMs)
  const haproxy = readDeployed('haproxy.cfg')
  for (const side of ['client', 'server'])
    expect(milliseconds(new RegExp(`timeout ${side} (\\w+)`).exec(haproxy)?.[1] ?? '')).toBeGreaterThan(
      usual.runTimeoutMs,
    )
  for (const text of [caddy, haproxy]) expect(text).toContain(`${usual.healthPath}/ready`)
  for (const text of [nginx, caddy, haproxy]) {
    expect(text).toContain(`allowHosts: ['${name}']`)
    expect(text).toContain(`127.0.0.1:${usual.address.port}`)
  }
})

const config = `
import { setTimeout as pause } from 'node:timers/promises'
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    length: agent({ sideEffects: false, async *run({ text }) { yield String(text.length) } }),
    slow: agent({ async *run() { for (let n = 0; n < 10; n++) { yield n + ' '; await pause(100) } } }),
  },
  server: {
    storage: { type: 'postgres' }, trustProxy: ['loopback'], allowHosts: ['${name}'], a2a: { defaultAgent: 'echo' },
  },
})
`

describePostgres('two servers', () => {
  let place: Place
  let project: Project
  const ports: number[] = []
  const servers: RunningServer[] = []
  const start = async (number: number) => {
    const args = ['--port', String(ports[number]), '--data', join(project.folder, `data-${number}`)]
    servers[number] = await serve(project, 'start', args, { AGENTSERVE_DATABASE_URL: place.url })
  }
  beforeAll(async () => {
    place = await (await testPostgres()).newDatabase()
    project = await createProject({ 'agent.config.ts': config, 'tls/cert.pem': certificate, 'tls/key.pem': key })
    await project.write('tls/both.pem', `${certificate}\n${key}`)
    for (const number of [0, 1]) {
      ports.push(await findPort())
      await start(number)
    }
  }, 60_000)
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await project?.remove()
    await place?.drop()
  })

  for (const [proxy, { program }] of Object.entries(proxies)) {
    const missing = findProgram(program) === undefined
    if (missing) console.warn(`Skipped the servers behind ${proxy}: it is not installed.`)
    describe.skipIf(missing)(`behind ${proxy}`, () => {
      test('stream at once, know their name, take large bodies, and are replaced unnoticed', async () => {
        const port = await findPort()
        const tls = (file: string) => join(project.folder, 'tls', file)
        const running = await startProxyOf(proxy, {
          ...{ folder: join(project.folder, proxy), port, servers: ports },
          ...{ certificate: tls('cert.pem'), key: tls('key.pem'), both: tls('both.pem') },
        })
        onTestFinished(() => running.stop())
        // The certificate is of another name.
        const dispatcher = new Agent({ allowH2: false, connect: { rejectUnauthorized: false, servername: name } })
        onTestFinished(() => dispatcher.close())
        const ask = (path: string, body?: object, more: object = {}) =>
          request(`https://127.0.0.1:${port}${path}`, {
            dispatcher,
            headers: { host: name, 'content-type': 'application/json', ...more },
            ...(body && { method: 'POST', body: JSON.stringify(body) }),
          })
        const statusOf = async (path: string, body?: object) => {
          const answer = await ask(path, body)
          await answer.body.dump()
          return answer.statusCode
        }
        const isUp = () => statusOf('/health/ready').catch(() => 0)
        await expect.poll(isUp, { timeout: 20_000, message: running.said() }).toBe(200)

        const card = (await (await ask('/.well-known/agent-card.json')).body.json()) as object
        expect(JSON.stringify(card)).toContain(`https://${name}/`)

        const stream = await ask('/api/v1/agents/slow/run/stream', { input: 'x' }, { accept: 'text/event-stream' })
        const times: number[] = []
        for await (const _ of stream.body) times.push(performance.now())
        expect(times.length).toBeGreaterThan(5)
        expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(500)

        const mb = 1024 ** 2
        expect(await statusOf('/api/v1/agents/length/run', { input: 'x'.repeat(9 * mb) })).toBe(200)
        expect(await statusOf('/api/v1/agents/length/run', { input: 'x'.repeat(11 * mb) }).catch(() => 413)).toBe(413)

        const wrong: string[] = []
        let asked = 0
        let over = false
        const client = async () => {
          while (!over) {
            asked++
            const answer = await ask('/api/v1/agents/echo/run', { input: 'x' }).catch((error) => `${error}`)
            const status = typeof answer === 'string' ? 0 : answer.statusCode
            const said = typeof answer === 'string' ? answer : await answer.body.text()
            if (status !== 200) wrong.push(`${status} ${said.slice(0, 200)}`)
          }
        }
        const clients = Array.from({ length: 4 }, client)
        for (const number of [0, 1]) {
          expect((await servers[number]?.stop())?.code).toBe(0)
          await start(number)
          // The proxy has seen it.
          const gets = async () => (await fetch(`${servers[number]?.url}/metrics`)).text()
          await expect
            .poll(gets, { timeout: 20_000 })
            .toMatch(/requests_total\{method="POST",[^}]*status="200"\} \d{2,}/)
        }
        over = true
        await Promise.all(clients)
        onTestFailed(() => console.error(running.said().slice(-4_000)))
        console.info(`${proxy}: ${asked} requests while both servers were replaced, ${wrong.length} failed`)
        // nginx looks at no readiness: on a busy machine a request may be on its way when a server closes its door.
        const lost = proxy === 'nginx' ? wrong.filter((what) => !what.startsWith('502')) : wrong
        expect({ count: lost.length, first: lost.slice(0, 5) }).toEqual({ count: 0, first: [] })
        expect(wrong.length).toBeLessThan(5)
      }, 120_000)
    })
  }
})
