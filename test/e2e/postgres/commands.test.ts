import { Client } from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Finding } from '../../../src/cli/commands/doctor/finding.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { newestStep } from '../../support/postgres/newer-steps.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { command, createProject, launch, type Project, type RunningServer, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
const waits = agent({ async *run({ signal }) { yield 'begun'; await new Promise((done) => signal.addEventListener('abort', done)) } })
const echo = agent({ sideEffects: false, async *run({ text }) { yield text } })
export default defineConfig({ agents: { echo, waits }, server: { storage: { type: 'postgres', connections: process.env.CONNECTIONS ?? 'direct' } } })
`

describePostgres('commands beside servers on Postgres', () => {
  let database: Place
  let project: Project
  let env: Record<string, string>
  const roles: string[] = []
  beforeAll(async () => {
    database = await (await testPostgres()).newDatabase()
    project = await createProject({ 'agent.config.ts': config })
    env = { AGENTSERVE_DATABASE_URL: database.url }
  })
  afterAll(async () => {
    await project?.remove()
    await database?.drop()
    for (const role of roles) await execute(`DROP ROLE ${role}`, (await testPostgres()).adminUrl)
  })

  async function execute(text: string, url = database.adminUrl): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }

  async function started(more: Record<string, string> = {}): Promise<RunningServer> {
    const server = await serve(project, 'start', [], { ...env, ...more })
    onTestFinished(async () => {
      server.child.kill('SIGKILL')
      await server.finished
    })
    return server
  }

  const post = async (server: RunningServer, path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${server.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.json() as Promise<Record<string, string>>
  }
  const statusOf = async (server: RunningServer, runId: string) =>
    ((await (await fetch(`${server.url}/api/v1/runs/${runId}`)).json()) as { status: string }).status

  const run = async (args: string[], more: Record<string, string> = {}) => {
    const end = await command(project, args, '', { ...env, AGENTSERVE_DATA: 'other', ...more })
    expect(end, `${args.join(' ')}: ${end.stderr}`).toMatchObject({ code: 0 })
    return end
  }
  const findingsOf = async (args: string[], more: Record<string, string> = {}) => {
    const { stdout } = await run(['doctor', '--json', ...args], more)
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding)
  }

  test('are guests: what runs elsewhere goes on, and is cancelled from here', { timeout: 60_000 }, async () => {
    const server = await started()
    const { run_id: runId = '' } = await post(server, '/agents/waits/run', { input: 'x', background: true })
    await expect.poll(() => statusOf(server, runId)).toBe('running')
    expect((await run(['runs', 'list', '--json'])).stdout).toContain(`"status":"running"`)
    expect((await run(['chat', 'echo', '--message', 'from elsewhere'])).stdout).toContain('from elsewhere')
    const status = JSON.parse((await run(['storage', 'status', '--json'])).stdout)
    const alive = status.instances.filter(({ state }: { state: string }) => state === 'alive')
    expect(alive).toMatchObject([{ role: 'server', running: 1, queued: 0 }])
    expect(alive[0].beat_age_seconds).toBeLessThan(9)
    expect(await statusOf(server, runId)).toBe('running')
    await run(['runs', 'cancel', runId])
    await expect.poll(() => statusOf(server, runId), { timeout: 10_000 }).toBe('cancelled')
    const left = JSON.parse((await run(['storage', 'status', '--json'])).stdout).instances
    expect(left.filter(({ state }: { state: string }) => state !== 'alive')).toMatchObject(
      left.slice(1).map(() => ({ state: 'left', role: 'guest', running: 0 })),
    )
  })

  test('tell of the database in doctor, and count what is in it', { timeout: 60_000 }, async () => {
    const server = await started()
    await post(server, '/agents/echo/run', { input: 'counted' })
    const findings = await findingsOf([])
    const of = (check: string) => findings.find((finding) => finding.check === check)
    expect(findings.filter(({ state }) => state === 'wrong')).toEqual([])
    expect(of('database')).toMatchObject({ state: 'ok', message: expect.stringMatching(/^Postgres \d.*plpgsql/) })
    expect(of('tables')).toMatchObject({
      state: 'ok',
      message: expect.stringContaining(`schema agentserve, step ${newestStep} of ${newestStep}`),
    })
    expect(of('plan')).toMatchObject({ state: 'ok' })
    expect(of('servers')).toMatchObject({
      state: 'ok',
      message: expect.stringMatching(/^\d servers? shares? it; .* [0-8]\.\d s old/),
    })
    expect(of('connections')).toMatchObject({ message: expect.stringMatching(/^\d+ of \d+ connections are taken$/) })
    expect(of('clock')).toMatchObject({ state: 'ok' })
    expect(JSON.stringify(findings)).not.toContain(new URL(database.url).password)
    const [counted] = await findingsOf(['--check'])
    expect(counted).toMatchObject({
      check: 'database',
      state: 'ok',
      message: expect.stringMatching(/: \d+ sessions, [1-9]\d* runs, 0 files; nothing is astray$/),
    })
    await project.write('sqlite.config.ts', 'export default {}\n')
    expect(await findingsOf(['--config', 'sqlite.config.ts'])).toContainEqual(
      expect.objectContaining({ check: 'database', state: 'warning', message: expect.stringContaining('is set, but') }),
    )
  })

  test('refuse backup and restore, with what does them', { timeout: 60_000 }, async () => {
    const backup = await command(project, ['backup', 'a.tar'], '', { ...env, AGENTSERVE_DATA: 'other' })
    expect(backup).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pg_dump --format=custom --schema=agentserve'),
    })
    const restore = await command(project, ['restore', 'a.tar'], '', env)
    expect(restore).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pg_restore --dbname="$AGENTSERVE_DATABASE_URL"'),
    })
  })

  test.each(['direct', 'pooled'])(
    '%s servers need the rights that `storage prepare --print` gives, and no more',
    { timeout: 60_000 },
    async (CONNECTIONS) => {
      const own = await (await testPostgres()).newDatabase()
      onTestFinished(() => own.drop())
      const role = `${own.name}_servers`
      const url = new URL(own.url)
      url.username = role
      await execute(`CREATE ROLE ${role} LOGIN PASSWORD '${url.password}'`)
      roles.push(role)
      const poor = { AGENTSERVE_DATABASE_URL: url.href, CONNECTIONS }
      await execute((await run(['storage', 'prepare', '--print'], poor)).stdout, own.adminUrl)
      const server = await started(poor)
      const note = { type: 'file', media_type: 'text/plain', name: 'note.txt', data: 'QSBub3RlLgo=' }
      const parts = [{ type: 'text', text: 'with a file' }, note]
      const { session_id: id = '', ...first } = await post(server, '/agents/echo/run', { input: { parts } })
      expect(first.status).toBe('completed')
      await post(server, `/sessions/${id}/summary`, {})
      const found = await fetch(`${server.url}/api/v1/messages?q=file`)
      expect(await found.text()).toContain(id)
      expect((await fetch(`${server.url}/api/v1/sessions/${id}`, { method: 'DELETE' })).ok).toBe(true)
      const ingested = await post(server, '/knowledge/content', { source: 'a.md', content: 'The anchor holds.' })
      expect(ingested.chunk_count).toBe(1)
      const asked = await post(server, '/knowledge/search', { query: 'anchor', mode: 'hybrid' })
      expect(asked.results).toMatchObject([{ source: 'a.md' }])
      const findings = await findingsOf([], poor)
      expect(findings.filter(({ state }) => state === 'wrong')).toEqual([])
      await run(['storage', 'status'], poor)
      server.child.kill('SIGKILL')
      await server.finished
      await run(['sessions', 'prune', '--older-than', '1d', '--yes'], poor)
    },
  )
})

describePostgres('a server on Postgres', () => {
  test('names its database when it starts, and drains when it is told to stop', { timeout: 60_000 }, async () => {
    const database = await (await testPostgres()).newDatabase()
    onTestFinished(() => database.drop())
    const project = await createProject({ 'agent.config.ts': config })
    onTestFinished(() => project.remove())
    const running = launch(project, ['start', '--port', '0'], { AGENTSERVE_DATABASE_URL: database.url })
    onTestFinished(async () => {
      running.child.kill('SIGKILL')
      await running.finished
    })
    await expect.poll(() => running.stderr(), { timeout: 20_000 }).toContain('Try it:')
    const place = `${new URL(database.url).host}/${database.name}, schema agentserve`
    expect(running.stderr()).toMatch(`sessions  Postgres at ${place}, shared with other servers\n`)
    expect(running.stderr()).toMatch(', shared with other servers\n  knowledge Postgres')
    const url = / at (http:\S+)/.exec(running.stderr())?.[1] ?? ''
    running.child.kill('SIGTERM')
    const readiness = () => fetch(`${url}/health/ready`).then((answer) => answer.text())
    await expect.poll(readiness).toContain('"stopping"')
    const answer = await fetch(`${url}/api/v1/agents/echo/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"still here"}',
    })
    expect(answer.status).toBe(200)
    expect(await running.finished).toMatchObject({ code: 0 })
  })
})
