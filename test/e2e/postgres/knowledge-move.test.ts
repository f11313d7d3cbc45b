import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type PostgresProxy, startProxy } from '../../support/postgres/proxy.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { command, createProject, launch, type Project, serve } from '../../support/program.ts'

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: { docs: agent({ knowledge: true }) },
  server: process.env.AGENTSERVE_DATABASE_URL
    ? { storage: { type: 'postgres', schema: 'agents', cluster: { deadAfter: '5s' } }, embedding: { provider: 'lexical' } }
    : { embedding: { provider: 'lexical' } },
})
`
const documents = 60

describePostgres('a local knowledge base whose user moves to Postgres', () => {
  let project: Project
  let database: Place
  let proxy: PostgresProxy
  beforeAll(async () => {
    database = await (await testPostgres()).newDatabase()
    proxy = await startProxy(database.url)
    const text = (at: number) =>
      Array.from(
        { length: 200 },
        (_, line) => `Sentence ${line} of book ${at} is about the harbour. ${'It goes on. '.repeat(8)}`,
      ).join('\n\n')
    const files = Array.from({ length: documents }, (_, at) => [`books/${at}.md`, text(at)])
    project = await createProject({ 'agent.config.ts': config, ...Object.fromEntries(files) })
  }, 60_000)
  afterAll(async () => {
    await project?.remove()
    await proxy?.stop()
    await database?.drop()
  })
  const count = async (sql: string) => {
    const client = new Client({ connectionString: database.url })
    await client.connect()
    try {
      await client.query('SET search_path = agents')
      return Number((await client.query(sql)).rows[0].count)
    } finally {
      await client.end()
    }
  }

  test('has it there by one command, which may be killed and run again', { timeout: 240_000 }, async () => {
    const env = { AGENTSERVE_DATABASE_URL: proxy.url }
    const local = async (...args: string[]) => {
      const end = await command(project, args)
      expect(end, end.stderr).toMatchObject({ code: 0 })
      return end.stdout
    }
    await local('ingest', 'books')
    const before = JSON.parse(await local('knowledge', 'status', '--json'))
    expect(before).toMatchObject({ documents, pending: 0 })
    const ids = async (own: Record<string, string> = {}) =>
      (await command(project, ['knowledge', 'list', '--json'], '', own)).stdout
    const importing = ['storage', 'import-knowledge', '--json']
    const wrong = await command(project, importing)
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('server.storage') })
    const nowhere = await command(project, [...importing, '--from', 'nowhere'], '', env)
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('nowhere') })

    expect((await command(project, ['storage', 'prepare'], '', env)).code).toBe(0)
    proxy.delay(15)
    const killed = launch(project, importing, env)
    await expect
      .poll(() => count('SELECT count(*) FROM document'), { timeout: 60_000, interval: 20 })
      .toBeGreaterThan(0)
    killed.child.kill('SIGKILL')
    await killed.finished
    proxy.delay(0)
    const there = await count('SELECT count(*) FROM document')
    expect(there).toBeLessThan(documents)
    expect(
      await count(
        'SELECT count(*) FROM document WHERE chunk_count <> (SELECT count(*) FROM chunk WHERE chunk_generation = generation)',
      ),
    ).toBe(0)

    const again = await command(project, importing, '', env)
    expect(again, again.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(again.stdout).collections).toEqual([
      { collection: 'default', copied: documents - there, unchanged: there, kept: 0, pending: 0 },
    ])
    const third = await command(project, ['storage', 'import-knowledge'], '', env)
    expect(third).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`default +0 +${documents} +0 +0`)),
    })

    const server = await serve(project, 'start', ['--data', 'of-server'], env)
    try {
      const status = await (await fetch(`${server.url}/api/v1/knowledge/status`)).json()
      expect(status).toMatchObject({ documents, chunks: before.chunks, vectors: before.chunks, pending: 0 })
      const answer = await fetch(`${server.url}/api/v1/knowledge/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'sentence 7 of book 33', mode: 'vector' }),
      })
      expect(((await answer.json()) as { results: unknown[] }).results.length).toBeGreaterThan(0)
      const listed = (text: string) => text.match(/doc_[0-9a-z]+/g)?.sort()
      expect(listed(await ids(env))).toEqual(listed(await ids()))
      // What the killed one had begun goes by itself.
      await expect
        .poll(
          () => count('SELECT count(*) FROM chunk WHERE chunk_generation NOT IN (SELECT generation FROM document)'),
          {
            timeout: 45_000,
          },
        )
        .toBe(0)
    } finally {
      await server.kill()
    }
  })
})
