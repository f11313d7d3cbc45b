import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/client/create.ts'
import type { SessionStore } from '../../src/core/store.ts'
import { postgresStore } from '../../src/store/sessions/postgres/store.ts'
import { sessionsDatabase } from '../../src/store/sessions/sqlite/schema/database.ts'
import { sqliteStore } from '../../src/store/sessions/sqlite/store.ts'
import { openConnection } from '../../src/store/sqlite/open-database.ts'
import { collect } from '../support/collect.ts'
import { laterEvents, laterFields, laterRun } from '../support/later-version.ts'
import { describePostgres } from '../support/postgres/describe-postgres.ts'
import { execute } from '../support/postgres/places.ts'
import { testPostgres } from '../support/postgres/test-postgres.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const api = '/api/v1'
const { run } = laterRun
const { run_id: runId, session_id: sessionId } = run
const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "''")}'`

/** The JSON of its row, as a later version writes it. */
const batch = quoted(laterEvents.map(({ run_id: _run, ...event }) => event))
const added = (object: object) => JSON.stringify(object).slice(1, -1).replaceAll("'", "''")
const widened = (column: 'begun' | 'ended') =>
  `${column} = '{' || '${added(laterFields[column])},' || substr(${column}, 2)`

async function writeRun(store: SessionStore): Promise<void> {
  await store.open()
  const first = laterEvents.filter(({ type }) => type === 'model_call_start')
  await store.restoreSession({
    session: {
      session_id: sessionId,
      ...{ agent_id: 'docs', team_id: null, workflow_id: null, user_id: null, name: null, metadata: null, state: null },
      shared_with: { agent_ids: [], team_ids: [], workflow_ids: [], user_ids: [] },
      ...{ created_at: run.created_at, updated_at: run.created_at },
    },
    summary: null,
    runs: (async function* () {
      yield { run }
      yield { run_id: runId, events: first }
    })(),
  })
  await store.close()
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

type Closing = AsyncDisposableStack

async function onSqlite(closing: Closing): Promise<SessionStore> {
  const folder = closing.use(await temporaryFolder())
  const path = join(folder.path, 'agentserve.db')
  const store = () => sqliteStore({ path, synchronous: 'NORMAL' })
  await writeRun(store())
  const connection = await openConnection(path, sessionsDatabase, 'NORMAL')
  await connection.exec(`UPDATE runs SET ${widened('begun')}, ${widened('ended')};
    UPDATE events SET first_seq = 2, batch = ${batch}`)
  await connection.close()
  return store()
}

async function onPostgres(closing: Closing): Promise<SessionStore> {
  const place = (await testPostgres()).newSchema()
  closing.defer(() => place.drop())
  const store = () => postgresStore({ url: place.url, schema: place.name })
  await writeRun(store())
  await execute(
    place.url,
    `SET search_path = ${place.name}; UPDATE run SET ${widened('begun')}, ${widened('ended')};
      UPDATE event SET first_seq = 2, batch = ${batch}`,
  )
  return store()
}

function readersOf(open: (closing: Closing) => Promise<SessionStore>): void {
  const closing = new AsyncDisposableStack()
  let server: RunningTestServer
  beforeAll(async () => {
    server = await startServer({ sessionStorage: await open(closing), studio: { again: true } })
    closing.defer(() => server.close())
  })
  afterAll(() => closing.disposeAsync())
  const exported = async (query = '') => (await server.call('GET', `${api}/sessions/${sessionId}/export${query}`)).text
  const load = (text: string, query = '') =>
    server.call('POST', `${api}/sessions/import${query}`, text, { 'content-type': 'application/x-ndjson' })

  test('streams the events as they were recorded, from any number', async () => {
    const client = createClient({ url: server.url })
    try {
      for (const { seq } of laterRun.events) {
        const events = await collect(await client.runs.events(runId, { after: seq - 1, includePrompts: true }))
        const body = events.filter(({ type }) => type !== 'run_start' && type !== 'run_end')
        expect(body).toMatchObject(laterEvents.filter((event) => event.seq >= seq))
      }
      expect(await client.runs.get(runId)).toMatchObject({ status: 'completed', content: 'Good day' })
    } finally {
      await client.close()
    }
  })

  test('shows those who may not see prompts nothing of that name in an unknown event', async () => {
    const { text } = await server.call('GET', `${api}/runs/${runId}/events`)
    expect(text).toContain('"type":"text_delta_2"')
    expect(text).not.toContain('inside')
  })

  test('answers by every route', async () => {
    const responseId = runId.replace('run_', 'resp_')
    const paths = [
      ...[`runs/${runId}`, `runs/${runId}/trace`, 'runs?agent_id=docs', 'sessions', 'sessions?view=head'],
      ...[`sessions/${sessionId}`, `sessions/${sessionId}/history`, 'messages?q=Good'],
      ...[`chat/docs/${sessionId}`, `ag-ui/docs/threads/${sessionId}`],
    ].map((path) => `${api}/${path}`)
    const openai = [`conversations/${sessionId}`, `responses/${responseId}`, `responses/${responseId}?stream=true`]
    for (const path of [...paths, ...openai.map((name) => `/v1/${name}`)]) {
      const { status, text } = await server.call('GET', path)
      expect(status, `${path}: ${text}`).toBe(200)
      expect(text, path).toMatch(/Good|ses_recorded|run_later/)
    }
    const task = { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: runId } }
    expect((await server.call('POST', `${api}/a2a/agents/docs`, task)).json.result).toMatchObject({
      status: { state: 'completed' },
    })
  })

  test('repeats them in a run that runs again', async () => {
    const from = laterEvents.find(({ type }) => type === 'model_call_start')?.seq
    const { json } = await server.call('POST', `${api}/runs/${runId}/again`, { from, after: 'live' })
    const { text } = await server.call('GET', `${api}/runs/${json.runs[0].run_id}/events`)
    expect(text).toMatch(/"type":"note"[\s\S]*"status":"completed"/)
  })

  test('exports and imports all of them, and the fields of the run', async () => {
    const text = await exported()
    const lines = linesOf(text)
    const events = lines.flatMap((line) => (line.type === 'events' ? line.events : []))
    expect(events).toEqual(laterEvents.map(({ run_id: _run, ...event }) => event))
    expect(lines[1].run).toMatchObject({ ...laterFields.begun, ...laterFields.ended })
    const copied = await load(text, '?new_ids=true')
    expect(copied).toMatchObject({ status: 201 })
    expect(JSON.stringify(copied.json)).not.toContain('the run')
    const forked = await server.call('POST', `${api}/sessions/${sessionId}/fork`)
    for (const { json } of [copied, forked]) {
      const copy = linesOf((await server.call('GET', `${api}/sessions/${json.session_id}/export`)).text)
      expect(copy[1].run).toMatchObject({ ...laterFields.begun, ...laterFields.ended })
      expect(copy[2].events.at(-1)).toMatchObject({ type: 'constructor' })
    }
    expect((await server.call('DELETE', `${api}/sessions/${sessionId}`)).status).toBe(200)
    const inside = text.replace('"usage":{', '"usage":{"audio_tokens":2,')
    expect(await load(inside)).toMatchObject({ status: 201 })
    expect(linesOf(await exported())).toEqual(linesOf(inside))
  })
}

describe('rows of a later version in SQLite', () => readersOf(onSqlite))
describePostgres('rows of a later version in Postgres', () => readersOf(onPostgres))
