import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { knownVariables, parseDockerfile, readDeployed, variablesIn } from '../../support/deploy/files.ts'
import { runIsolated, whyNotIsolated } from '../../support/deploy/isolated.ts'
import { findPort } from '../../support/postgres/port.ts'
import { bin, createProject, environment } from '../../support/program.ts'

const text = readDeployed('Dockerfile')
const instructions = parseDockerfile(text)
const all = (name: string) => instructions.filter((one) => one.name === name).map(({ args }) => args)
const last = (name: string) => all(name).at(-1) ?? ''
const env = Object.fromEntries(
  last('ENV')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
)
const command = JSON.parse(last('CMD')) as string[]
const [uid = 0, gid = 0] = last('USER').split(':').map(Number)
const [, options = '', check = '[]'] = /^(.*?)CMD (\[.*\])$/.exec(last('HEALTHCHECK')) ?? []

test('the image has two stages, a user without a name, and only what the program knows', () => {
  expect(all('FROM')).toEqual(['node:24-slim AS build', 'node:24-slim'])
  expect(all('COPY').at(-1)).toBe('--from=build /app /app')
  expect([uid, gid].every((id) => Number.isInteger(id) && id > 0)).toBe(true)
  expect(last('RUN')).toContain(`--owner=${uid} --group=${gid}`)
  expect(last('RUN')).toContain(env.AGENTSERVE_DATA)
  expect(last('VOLUME')).toBe(env.AGENTSERVE_DATA)
  expect(last('EXPOSE')).toBe(env.AGENTSERVE_PORT)
  expect(check).toContain(`:${env.AGENTSERVE_PORT}/health/ready`)
  expect(options).toContain('--start-period=90s')
  expect(variablesIn(text).filter((name) => !knownVariables.has(name))).toEqual([])
  expect(text).not.toMatch(/API_KEYS=\S|MALLOC_/)
  const ignored = readDeployed('Dockerfile.dockerignore').trim().split('\n')
  expect(ignored).toEqual(expect.arrayContaining(['node_modules', '.agentserve', '.env', 'secrets']))
})

const config = `
import { writeFile } from 'node:fs/promises'
import { agent, defineConfig } from 'agentserve'
const tryToWrite = (path) => writeFile(path, 'x').then(() => 'written', ({ code }) => code)
export default defineConfig({ agents: { look: agent({ async *run() {
  yield JSON.stringify({ pid: process.pid, uid: process.getuid(), app: await tryToWrite('new'), root: await tryToWrite('/new') })
} }) } })
`

const why = whyNotIsolated()
if (why !== undefined) console.warn(`Skipped the container as it runs: ${why}.`)

describe.skipIf(why !== undefined)('the command of the image', () => {
  test('runs as PID 1, of its user, on a file system that is read only, and ends well at SIGTERM', async () => {
    const project = await createProject({ 'app/agent.config.ts': config, 'app/package.json': '{ "type": "module" }\n' })
    onTestFinished(() => project.remove())
    const place = (name: string) => join(project.folder, name)
    await mkdir(place('app/node_modules/.bin'), { recursive: true })
    await symlink(join(bin, '../..'), place('app/node_modules/agentserve'))
    await symlink(bin, place('app/node_modules/.bin/agentserve'))
    for (const name of ['app.below', 'data', 'tmp']) await mkdir(place(name))
    for (const name of ['data', 'tmp']) await chown(place(name), uid, gid)
    await chmod(project.folder, 0o755)
    const port = await findPort()
    const here = (word: string) => word.replaceAll(String(env.AGENTSERVE_PORT), String(port))
    const running = runIsolated(command, {
      folder: place('app'),
      data: place('data'),
      temporary: place('tmp'),
      user: { uid, gid },
      env: {
        ...environment({}),
        ...env,
        AGENTSERVE_DATA: place('data'),
        AGENTSERVE_PORT: String(port),
        AGENTSERVE_API_KEYS: 'a-key-of-the-test',
      },
    })
    onTestFinished(async () => {
      running.child.kill('SIGKILL')
      await running.finished
    })
    const [node = '', ...args] = (JSON.parse(check) as string[]).map(here)
    expect(node).toBe('node')
    const isHealthy = () =>
      promisify(execFile)(process.execPath, args).then(
        () => true,
        () => false,
      )
    expect(await isHealthy()).toBe(false)
    await expect.poll(isHealthy, { timeout: 30_000, message: running.stderr() }).toBe(true)
    // As a probe does, which names the address of the container.
    const get = (path: string, headers = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers: { host: '10.1.2.3:8080', ...headers } })
    expect((await get('/health')).status).toBe(200)
    expect((await get('/api/v1/agents')).status).toBe(401)
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/agents/look/run`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-key-of-the-test', 'content-type': 'application/json' },
      body: '{"input":"x"}',
    })
    const { content } = (await answer.json()) as { content: string }
    expect(JSON.parse(content)).toEqual({ pid: 1, uid, app: 'EROFS', root: 'EROFS' })
    expect(await readdir(place('data'))).toContain('agentserve.db')
    running.signal('SIGTERM')
    expect(await running.finished).toMatchObject({ code: 0 })
  }, 60_000)
})
