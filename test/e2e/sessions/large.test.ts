import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Connection } from '../../../src/store/sqlite/connection.ts'
import { createProject, type Project, type RunningServer, root, serve } from '../../support/program.ts'

/** Together they are longer than V8's longest string, which has 2^29 characters. */
const runs = 58
const characters = 4_800_000

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = await createProject()
  const start = () =>
    serve(project, 'start', ['--config', join(root, 'bench/agent.config.ts'), '--data', join(project.folder, 'data')])
  const first = await start()
  const text = 'some words of a report '.repeat(characters / 23)
  await post(first, '/sessions', { session_id: 'large' })
  const asked = await post(first, '/agents/echo/run', { input: text, session_id: 'large' })
  expect(asked.status).toBe(200)
  await asked.text()
  await first.stop()
  const path = join(project.folder, 'data', 'agentserve.db')
  const file = await Connection.open({ path, readonly: false, busyTimeoutMs: 5_000 })
  await file.exec('PRAGMA synchronous = OFF; CREATE TEMP TABLE copied AS SELECT * FROM runs')
  for (let run = 1; run < runs; run++) {
    const id = `run_${String(run).padStart(26, '0')}`
    await file.run('UPDATE copied SET run_number = run_number + 1, run_id = ?', [id])
    await file.run('INSERT INTO runs SELECT * FROM copied')
  }
  await file.run('UPDATE sessions SET run_count = ?', [runs])
  await file.close()
  server = await start()
}, 60_000)
afterAll(async () => {
  await server.stop()
  await project.remove()
})

function post({ url }: RunningServer, path: string, body: unknown): Promise<Response> {
  return fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

test('a history and a summary of a session that no string can hold are given in part', async () => {
  const api = `${server.url}/api/v1/sessions/large`
  const session = (await (await fetch(api)).json()) as { run_count: number }
  expect(session.run_count).toBe(runs)
  for (const query of ['num_messages=1000', 'num_messages=1000&stream_events=true']) {
    const answer = await fetch(`${api}/history?${query}`)
    const history = (await answer.json()) as { has_more: boolean; runs: { run_id: string; events?: object[] }[] }
    expect(history).toMatchObject({ has_more: true, runs: [{}, {}, {}] })
    const newest = history.runs.at(-1)
    expect(newest?.run_id).toBe(`run_${String(runs - 1).padStart(26, '0')}`)
    expect(newest?.events?.length ?? 2).toBeGreaterThan(1)
  }
  const summary = await post(server, '/sessions/large/summary', {})
  expect([summary.status, await summary.json()]).toMatchObject([200, { summary: { run_count: 3 } }])
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
  expect(server.child.exitCode).toBeNull()
}, 30_000)
