import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, chown } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, readFrames } from '../../support/cluster/requests.ts'
import { findProgram, readDeployed } from '../../support/deploy/files.ts'
import { owned } from '../../support/owned.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { execute } from '../../support/postgres/places.ts'
import { findPort } from '../../support/postgres/port.ts'
import { owner } from '../../support/postgres/run-program.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { command, createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

const text = readDeployed('pgbouncer.ini')
const setting = (name: string) => new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1]

test('the pooler has transaction mode, and connections for several servers', () => {
  expect(setting('pool_mode')).toBe('transaction')
  expect(setting('listen_port')).toBe('6432')
  expect(Number(setting('default_pool_size'))).toBeGreaterThan(10)
  expect(text).not.toMatch(/^ignore_startup_parameters|^max_prepared_statements/m)
})

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    waits: agent({ async *run({ signal }) { yield 'begun'; await new Promise((done) => signal.addEventListener('abort', done)) } }),
  },
  server: { storage: { type: 'postgres', connections: 'pooled', listenUrl: process.env.LISTEN_URL } },
})
`
const program = findProgram('pgbouncer')
if (program === undefined) console.warn('Skipped the servers behind PgBouncer: it is not installed.')

describe.skipIf(program === undefined)('with PgBouncer', () => {
  describePostgres('two servers', () => {
    let place: Place
    let project: Project
    let pooler: ChildProcess | undefined
    let said = ''
    let env: Record<string, string>
    const servers: RunningServer[] = []
    const connectionsOf = () =>
      execute(place.adminUrl, 'SELECT application_name FROM pg_stat_activity WHERE datname = current_database()')
    beforeAll(async () => {
      place = await (await testPostgres()).newDatabase()
      const { hostname, port, username, password } = new URL(place.url)
      const own = await findPort()
      project = await createProject({ 'agent.config.ts': config })
      const users = join(project.folder, 'userlist.txt')
      await project.write('userlist.txt', `"${username}" "${password}"\n`)
      const ini = text
        .replace('host=127.0.0.1 port=5432 dbname=agents', `host=${hostname} port=${port} dbname=${place.name}`)
        .replace('listen_port = 6432', `listen_port = ${own}\nunix_socket_dir =`)
        .replace('/etc/pgbouncer/userlist.txt', users)
      await project.write('pgbouncer.ini', ini)
      await chmod(project.folder, 0o755)
      if (owner.uid !== undefined && owner.gid !== undefined) await chown(users, owner.uid, owner.gid)
      pooler = spawn(String(program), [join(project.folder, 'pgbouncer.ini')], { ...owner, stdio: 'pipe' })
      pooler.stderr?.setEncoding('utf8').on('data', (line: string) => {
        said += line
      })
      const through = new URL(place.url)
      through.port = String(own)
      through.pathname = '/agents'
      env = { AGENTSERVE_DATABASE_URL: through.href, LISTEN_URL: place.url }
      for (const name of ['a', 'b'])
        servers.push(await serve(project, 'start', ['--data', join(project.folder, name)], env))
    }, 90_000)
    afterAll(async () => {
      await Promise.all(servers.map((server) => server.kill()))
      pooler?.kill('SIGKILL')
      await project?.remove()
      await place?.drop()
    })

    test('share runs, streams and cancels, and only what listens goes past it', async () => {
      const [a, b] = servers as [RunningServer, RunningServer]
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          ask((n % 2 === 0 ? a : b).url, '/agents/echo/run', { body: { input: `${n}` } }),
        ),
      )
      expect(answers.map(({ body }) => body.content)).toEqual(answers.map((_, n) => `${n}`))
      const { body: run } = await ask(a.url, '/agents/waits/run', { body: { input: 'x', background: true } })
      const frames = owned(readFrames(b.url, run.run_id))
      await expect.poll(async () => (await ask(b.url, `/runs/${run.run_id}`)).body.content).toBe('begun')
      const askedMs = performance.now()
      expect((await ask(b.url, `/runs/${run.run_id}/cancel`, { body: {} })).status).toBe(200)
      // It was told of it, and did not find it with its next beat.
      expect(performance.now() - askedMs).toBeLessThan(2_500)
      expect((await frames).join('')).toContain('"status":"cancelled"')
      expect(JSON.stringify((await ask(a.url, '/messages?q=17')).body)).toContain('msg_')
      for (const args of [['status'], ['prepare'], ['upgrade'], ['upgrade', '--print']])
        expect(await command(project, ['storage', ...args], '', env), `${args}: ${said}`).toMatchObject({ code: 0 })
      expect((await command(project, ['doctor', '--check'], '', env)).code).toBe(0)
      expect((await connectionsOf()).filter((name) => name === 'agentserve listen')).toHaveLength(2)
      for (const server of [b, a]) expect((await server.stop()).code).toBe(0)
      expect(said).not.toMatch(/unsupported startup parameter|prepared statement .* does not exist/)
    }, 60_000)
  })
})
