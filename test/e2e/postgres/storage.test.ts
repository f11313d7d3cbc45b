import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { newestStep } from '../../support/postgres/newer-steps.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { command, createProject, type Project } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { echo: agent({ sideEffects: false, async *run({ text }) { yield text } }) },
  server: { storage: { type: 'postgres', schema: 'desk' } },
})
`

describePostgres('agentserve storage', () => {
  let database: Place
  let project: Project
  let poorUrl: string
  const poor = () => `${database.name}_poor`

  beforeAll(async () => {
    database = await (await testPostgres()).newDatabase()
    project = await createProject({ 'agent.config.ts': config })
    await execute(`CREATE ROLE ${poor()} LOGIN PASSWORD 'k9-not-to-be-seen'`)
    const url = new URL(database.url)
    url.username = poor()
    url.password = 'k9-not-to-be-seen'
    poorUrl = url.href
  })
  afterAll(async () => {
    await project?.remove()
    await database?.drop()
    await execute(`DROP ROLE ${poor()}`, (await testPostgres()).adminUrl)
  })

  async function execute(text: string, url = database.adminUrl): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    await client.query(text).finally(() => client.end())
  }

  const url = () => ({ AGENTSERVE_DATABASE_URL: database.url })
  const run = (args: string[], url = database.url) =>
    command(project, ['storage', ...args], '', { AGENTSERVE_DATABASE_URL: url })

  test('tells a role that may not make tables what its owner must execute, and it works', async () => {
    const before = await run(['status', '--json'], poorUrl)
    expect(before).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^There are no tables yet\. .*storage prepare/),
    })
    expect(JSON.parse(before.stdout)).toMatchObject({
      schema: { applied: null, missing: newestStep },
      instances: [],
      tables: [],
    })
    const refused = await run(['prepare'], poorUrl)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('storage prepare --print') })
    const printed = await run(['prepare', '--print'], poorUrl)
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    expect(printed.stdout + refused.stderr + before.stderr).not.toContain('k9-not-to-be-seen')
    await execute(printed.stdout)
    expect(await run(['prepare'], poorUrl)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('are up to date'),
    })
    expect(await run(['status'], poorUrl)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        new RegExp(`^Postgres \\d+\\S* at .*, schema desk, step ${newestStep} of ${newestStep}, as role ${poor()}\n`),
      ),
    })
    await execute('DROP SCHEMA desk CASCADE')
  })

  test('refuses tables that a newer version has changed, and says so in status', async () => {
    expect((await run(['prepare'])).code).toBe(0)
    await execute(`INSERT INTO desk.schema_version (step, kind) VALUES (${newestStep + 7}, 'expand')`)
    expect(await run(['status'])).toMatchObject({ code: 0, stderr: '' })
    await execute(`INSERT INTO desk.schema_version (step, kind) VALUES (${newestStep + 8}, 'contract')`)
    const status = await run(['status', '--json'])
    expect(status).toMatchObject({ code: 1, stderr: expect.stringContaining('Install a newer agentserve') })
    expect(JSON.parse(status.stdout).schema).toMatchObject({ applied: newestStep + 8, strange: newestStep + 8 })
    for (const args of [['prepare'], ['upgrade'], ['upgrade', '--print'], []]) {
      const refused = args.length > 0 ? await run(args) : await command(project, ['start', '--port', '0'], '', url())
      expect(refused).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('Install a newer agentserve'),
      })
    }
    await execute('DROP SCHEMA desk CASCADE')
  })

  test('makes the tables, once, and shows them with their sizes', async () => {
    const made = await run(['prepare', '--json'])
    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(made.stdout)).toMatchObject({
      step: newestStep,
      applied: newestStep,
      place: expect.stringContaining('schema desk'),
    })
    expect(JSON.parse((await run(['prepare', '--json'])).stdout)).toMatchObject({ applied: 0 })
    expect(JSON.parse((await run(['upgrade', '--json'])).stdout)).toEqual({
      ...{ place: expect.stringContaining('schema desk'), step: newestStep, applied: 0, waiting: [], older: [] },
    })
    expect(await run(['upgrade'])).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('up to date') })
    for (const action of ['prepare', 'upgrade'])
      expect((await run([action, '--print'])).stdout).toMatch(/^[^;]*No step is missing\.\n\n-- [^;]*GRANT USAGE/)
    await project.write('.env', `AGENTSERVE_DATABASE_URL=${database.url}\n`)
    const { tables, ...status } = JSON.parse((await command(project, ['storage', 'status', '--json'])).stdout)
    await project.write('.env', '')
    expect(status).toMatchObject({
      schema: { name: 'desk', applied: newestStep, known: newestStep, missing: 0, waiting: [], strange: null },
      instances: [],
    })
    const names = tables.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['instance', 'session', 'run', 'event']))
    expect(tables.every(({ bytes }: { bytes: number }) => bytes > 0)).toBe(true)
    expect((await run([])).stdout).toMatch(/\nTABLE +ROWS \(ABOUT\) +SIZE\n/)
  })

  test('fails with the reason, and without the password', async () => {
    const wrong = new URL(database.url)
    wrong.password = 'k9-not-to-be-seen'
    for (const action of ['status', 'prepare', 'upgrade']) {
      const end = await run([action, '--json'], wrong.href)
      expect(end).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('refuses the user or the password'),
      })
      expect(end.stderr).not.toContain('k9-not-to-be-seen')
    }
    const elsewhere = await command(project, ['storage', '--config', 'sqlite.config.ts'])
    expect(elsewhere.code).not.toBe(0)
    await project.write('sqlite.config.ts', 'export default {}\n')
    for (const action of ['status', 'prepare', 'upgrade']) {
      expect(await command(project, ['storage', action, '--config', 'sqlite.config.ts'])).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/^The sessions are in the SQLite file \S+agentserve\.db: .*set server\.storage/),
      })
    }
    // For a database that is not there yet.
    const printed = await run(['prepare', '--print'], wrong.href)
    expect(printed).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('CREATE TABLE session'),
      stderr: expect.stringContaining('So these are the statements for an empty database.'),
    })
    expect(printed.stdout + printed.stderr).not.toContain('k9-not-to-be-seen')
    expect((await run(['status', '--print'])).code).toBe(2)
  })
})
