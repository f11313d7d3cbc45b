import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeOwnPostgres } from '../../support/postgres/describe-postgres.ts'
import { startPostgres } from '../../support/postgres/server.ts'
import { openDoor } from '../../support/postgres/tls-proxy.ts'
import { command, createProject, launch, type Project } from '../../support/program.ts'

/* The password of the database, wherever somebody could look for it, and every failure that might tell of it. */

const password = 'canary-5f3a91c7-%40-password'
const config = (storage = "{ type: 'postgres' }") => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { echo: agent({ async *run({ text }) { yield text } }) },
  server: { debug: true, storage: ${storage} },
})
`

async function projectWith(storage?: string): Promise<Project> {
  const project = await createProject({ 'agent.config.ts': config(storage) })
  onTestFinished(() => project.remove())
  return project
}

/** As it is written, decoded, and as a base64 text might have it. */
function expectNoSecret(text: string): void {
  for (const form of [
    password,
    decodeURIComponent(password),
    'canary-5f3a91c7',
    Buffer.from(password).toString('base64'),
  ])
    expect(text.includes(form), text).toBe(false)
}

const url = (port: number, more = '') => `postgres://app:${password}@127.0.0.1:${port}/agents${more}`

test('is in no line of a start that fails, whatever is wrong, and each says what to do', {
  timeout: 120_000,
}, async () => {
  const refusing = await openDoor((socket) => socket.once('data', () => socket.end('N')))
  const garbage = await openDoor((socket) =>
    socket.on('data', () => socket.write(Buffer.from([0x52, 0, 0, 0, 1, 9, 9, 9, 9, 9]))),
  )
  onTestFinished(async () => {
    await refusing.close()
    await garbage.close()
  })
  const cases: [storage: string, url: string, says: string][] = [
    ["{ type: 'postgres', tls: true }", url(refusing.port), 'offers no TLS'],
    ["{ type: 'postgres' }", url(garbage.port), 'does not speak the protocol of Postgres'],
    [
      "{ type: 'postgres' }",
      url(1, '?sslmode=canary-5f3a91c7'),
      'AGENTSERVE_DATABASE_URL has an sslmode that is not one of',
    ],
    [
      "{ type: 'postgres' }",
      `postgres://app:1/${password}@127.0.0.1/agents`,
      'AGENTSERVE_DATABASE_URL must be an address',
    ],
    [`{ type: 'postgres', tls: true, url: '${url(1, '?sslmode=disable')}' }`, '', 'contradicts sslmode in `url`'],
    [
      `{ type: 'postgres', tls: { cert: 'a.pem', key: '${password}' } }`,
      url(1),
      'tls.cert is neither a PEM text nor a file',
    ],
  ]
  for (const [storage, address, says] of cases) {
    const project = await projectWith(storage)
    const end = await command(project, ['start', '--port', '0', '--json'], '', {
      AGENTSERVE_DATABASE_URL: address,
      AGENTSERVE_DEBUG: 'true',
    })
    expect(end, end.stderr).toMatchObject({ code: 1, stdout: '' })
    expect(end.stderr).toContain(says)
    expectNoSecret(end.stderr)
  }
})

test('is not in the lines of the config around a mistake', async () => {
  const project = await projectWith(
    `{ type: 'postgres', url: '${url(1)}' }, model: (() => { throw new Error('no') })()`,
  )
  const end = await command(project, ['start'])
  expect(end).toMatchObject({ code: 1, stderr: expect.stringContaining("url: 'postgres://app:****") })
  expectNoSecret(end.stderr)
})

test('is in no line of a command or a server that finds no database', { timeout: 120_000 }, async () => {
  const project = await projectWith()
  const env = { AGENTSERVE_DATABASE_URL: url(1), AGENTSERVE_DEBUG: 'true' }
  for (const args of [
    ['sessions', 'list', '--json'],
    ['doctor', '--json'],
    ['storage', 'status'],
    ['runs'],
    ['backup', 'a.tar'],
  ]) {
    const end = await command(project, args, '', env)
    expect(end.code, `${args.join(' ')}: ${end.stderr}`).toBe(1)
    expect(end.stdout + end.stderr).toContain(
      "127.0.0.1:1/agents, schema agentserve can't be reached: nothing listens there",
    )
    expectNoSecret(end.stdout + end.stderr)
  }
  for (const name of ['start', 'dev']) {
    const running = launch(project, [name, '--port', '0'], env)
    await expect.poll(() => running.stderr(), { timeout: 20_000 }).toContain('Trying again for up to 60 seconds')
    running.child.kill('SIGTERM')
    expect(await running.finished).toMatchObject({ code: 0, stdout: '' })
    expectNoSecret(running.stderr())
  }
})

describeOwnPostgres('a server whose database goes away', () => {
  test('waits for it at the start, and tells nobody its password', { timeout: 180_000 }, async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const secret = new URL(postgres.url).password
    await postgres.halt('fast')
    const project = await projectWith()
    const running = launch(project, ['start', '--port', '0', '--json'], {
      AGENTSERVE_DATABASE_URL: postgres.url,
      AGENTSERVE_DEBUG: 'true',
    })
    onTestFinished(async () => {
      running.child.kill('SIGKILL')
      await running.finished
    })
    await expect.poll(() => running.stderr(), { timeout: 20_000 }).toContain('Trying again for up to 60 seconds')
    await postgres.resume()
    await expect.poll(() => running.stdout(), { timeout: 20_000 }).toContain('"url"')
    const started = JSON.parse(running.stdout())
    expect(started.storage).toEqual({
      type: 'postgres',
      place: `127.0.0.1:${postgres.port}/agentserve, schema agentserve`,
      knowledge: 'shared',
    })
    const answers: string[] = []
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await fetch(started.url + path, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      answers.push(JSON.stringify([...answer.headers]), await answer.text())
      return answer.status
    }
    const askAll = async () => {
      for (const path of [
        '/health/ready',
        '/metrics',
        '/openapi.json',
        '/api/v1/me',
        '/api/v1/agents/echo?include=config',
      ])
        await ask('GET', path)
      for (const path of ['/api/v1/sessions', '/api/v1/runs', '/api/v1/backup', '/api/v1/messages?q=hello'])
        await ask('GET', path)
      await ask('POST', '/api/v1/sessions', { session_id: 'a' })
      return ask('POST', '/api/v1/agents/echo/run', { input: 'hello' })
    }
    expect(await askAll()).toBe(200)
    await postgres.halt('immediate')
    expect(await ask('GET', '/api/v1/sessions')).toBeGreaterThanOrEqual(500)
    expect(await ask('GET', '/health/ready')).toBe(503)
    await postgres.resume()
    await expect.poll(() => ask('GET', '/health/ready'), { timeout: 30_000 }).toBe(200)
    expect(await askAll()).toBe(200)
    running.child.kill('SIGTERM')
    expect(await running.finished).toMatchObject({ code: 0 })
    const folder = join(project.folder, '.agentserve')
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    for (const { parentPath, name } of files) answers.push(await readFile(join(parentPath, name), 'latin1'))
    const all = [...answers, running.stdout(), running.stderr()].join('\n')
    expect(all.length).toBeGreaterThan(10_000)
    expect(all.includes(secret)).toBe(false)
    expect(all.includes(postgres.url)).toBe(false)
  })
})
