import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { findPort } from '../../support/postgres/port.ts'
import { testPostgres } from '../../support/postgres/test-postgres.ts'
import { bin, createProject, environment, root } from '../../support/program.ts'

const run = promisify(execFile)

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
    const { services } = parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true })
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
