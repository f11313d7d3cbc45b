import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { drainMs } from '../../../src/cli/dev/serve.ts'
import { resolveConfig } from '../../../src/config/resolve.ts'
import { startPatienceMs } from '../../../src/server/database/database.ts'
import { configParts } from '../../../src/server.ts'
import { knownVariables, milliseconds, parseDockerfile, readDeployed, variablesIn } from '../../support/deploy/files.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { findPort } from '../../support/postgres/port.ts'
import { testPostgres } from '../../support/postgres/test-postgres.ts'
import { bin, createProject, environment, root } from '../../support/program.ts'

const run = promisify(execFile)

const file = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true })

test('the servers of compose.yaml can write little, and have the time to end', () => {
  const { server } = resolveConfig({ user: { agents: {} }, root: '/', purpose: 'program', parts: configParts })
  const names = Object.keys(file.services).filter((name) => name.startsWith('server-'))
  expect(names).toHaveLength(3)
  for (const name of names) {
    const service = file.services[name]
    const { read_only, tmpfs, volumes, init, cap_drop, security_opt } = service
    expect({ read_only, tmpfs, volumes, init, cap_drop, security_opt }).toEqual({
      ...{ read_only: true, tmpfs: ['/tmp'], volumes: [service.environment.AGENTSERVE_DATA], init: true },
      ...{ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
    })
    expect(milliseconds(service.stop_grace_period)).toBeGreaterThan(drainMs + server.stopWithinMs + 5_000)
    expect(milliseconds(service.healthcheck.start_period)).toBeGreaterThan(startPatienceMs)
  }
  const image = parseDockerfile(file.services['server-1'].build.dockerfile_inline)
  const last = (name: string) => image.filter((one) => one.name === name).at(-1)?.args
  const own = parseDockerfile(readDeployed('Dockerfile'))
  for (const name of ['USER', 'RUN']) expect(own.filter((one) => one.name === name).at(-1)?.args).toBe(last(name))
  const proxied = file.configs.proxy.content
  expect(proxied).toContain(`health_uri ${server.healthPath}/ready`)
  for (const name of names) expect(proxied).toContain(`${name}:8080`)
  expect(variablesIn(JSON.stringify(file)).filter((name) => !knownVariables.has(name))).toEqual([])
})

describePostgres('compose.yaml', () => {
  test('starts a server whose secrets are in files, and sees when it is ready', async () => {
    const database = await (await testPostgres()).newDatabase()
    onTestFinished(() => database.drop())
    const { host, username, password } = new URL(database.url)
    const port = await findPort()
    const project = await createProject({
      'agent.config.ts': "export default { server: { storage: { type: 'postgres' } } }\n",
      'secrets/database_password': `${password}\n`,
      'secrets/api_keys': 'a-key-of-this-test\n',
    })
    onTestFinished(() => project.remove())
    await mkdir(join(project.folder, 'node_modules/.bin'))
    await symlink(bin, join(project.folder, 'node_modules/.bin/agentserve'))
    /** What the containers have, as it is here. */
    const here = (text: string) =>
      text
        .replaceAll('$$', '$')
        .replaceAll('/run/secrets/', 'secrets/')
        .replace('postgres://agents:', `postgres://${username}:`)
        .replace('@postgres/agents', `@${host}/${database.name}`)
        .replaceAll('8080', String(port))
    const { services } = file
    const [shell, ...parameters] = services['server-1'].command.map(here)
    const child = spawn(shell, parameters, {
      cwd: project.folder,
      env: { ...environment({}), AGENTSERVE_DATA: join(project.folder, 'data') },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const finished = new Promise((resolve) => child.once('close', resolve))
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await finished
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const [, , ...check] = services['server-1'].healthcheck.test.map(here)
    const isHealthy = () =>
      run(process.execPath, check).then(
        () => true,
        () => false,
      )
    expect(await isHealthy()).toBe(false)
    await expect.poll(isHealthy, { timeout: 20_000, message: said }).toBe(true)
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/agents`)).status).toBe(401)
    const headers = { authorization: 'Bearer a-key-of-this-test', host: 'agents.example' }
    expect((await fetch(`http://127.0.0.1:${port}/api/v1/agents`, { headers })).status).toBe(200)
    expect(said).not.toContain(password)
    child.kill('SIGTERM')
    expect(await finished).toBe(0)
  })
})
