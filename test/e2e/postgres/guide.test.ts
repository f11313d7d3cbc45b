import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocks, commandsOf } from '../../support/guides.ts'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { command, createProject, type Project } from '../../support/program.ts'

const page = blocks.filter(({ place }) => place.startsWith('docs/postgres.md'))
const configs = blocks.filter(({ language, text }) => language === 'ts' && text.includes("type: 'postgres'"))
const lines = [
  ...page.filter(({ language }) => language === 'sh').flatMap(({ text }) => commandsOf(text)),
  ...blocks
    .filter(({ language, place }) => language === 'sh' && place.startsWith('docs/cli.md'))
    .flatMap(({ text }) => commandsOf(text).filter((line) => line.includes('agentserve storage'))),
]

describePostgres('the guide to Postgres', () => {
  let database: Place
  let other: Place
  let project: Project
  beforeAll(async () => {
    const postgres = await testPostgres()
    database = await postgres.newDatabase()
    other = await postgres.newDatabase()
    project = await createProject({
      'agent.config.ts': `import { agent, defineConfig } from 'agentserve'\nexport default defineConfig({ agents: { docs: agent({ knowledge: true }) } })`,
      'notes/hours.md': 'The shop opens at nine.',
    })
    // What a user has who moves to Postgres.
    const local = await command(project, ['ingest', 'notes'])
    expect(local, local.stderr).toMatchObject({ code: 0 })
  })
  afterAll(async () => {
    await project?.remove()
    await database?.drop()
    await other?.drop()
  })

  test('has configurations and commands that do what it says', async () => {
    expect(configs.length).toBeGreaterThan(0)
    expect(lines.length).toBeGreaterThan(6)
    for (const { place, text } of configs) {
      await project.write('agent.config.ts', text)
      if (place.startsWith('docs/postgres.md'))
        await command(project, ['chat', 'docs', '--message', 'hello'], '', { AGENTSERVE_DATABASE_URL: database.url })
      for (const line of place.startsWith('docs/postgres.md') ? lines : ['npx agentserve agents']) {
        const { url } = line.includes('sessions import') ? other : database
        const env = { AGENTSERVE_DATABASE_URL: url }
        const { code, stderr } = await command(project, line.split(' ').slice(2), '', env)
        expect({ code, stderr }, `${place}: ${line}`).toMatchObject({ code: 0 })
      }
    }
  }, 120_000)
})
