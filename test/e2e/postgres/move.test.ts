import { afterAll, beforeAll, expect, test } from 'vitest'
import { describePostgres } from '../../support/postgres/describe-postgres.ts'
import { type Place, testPostgres } from '../../support/postgres/test-postgres.ts'
import { command, createProject, type Project, type RunningServer, serve } from '../../support/program.ts'

/* Sessions from SQLite to Postgres and back, by files: everything of them is the same afterwards. */

const config = `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { for (const word of text.split(/(?<= )/)) yield word } }),
    counts: agent({ async *run({ state }) { state.count = (state.count ?? 0) + 1; yield 'count ' + state.count } }),
    asks: agent({ async *run({ ask, text }) { yield (await ask('echo', text + ' ✓ 你好 \\u0000')).text } }),
    breaks: agent({ async *run() { yield 'half'; throw new Error('it broke') } }),
    waits: agent({ *run({ resumed }) { yield resumed ? 'thanks' : { type: 'input_required', call_id: 'may', prompt: 'May I?' } } }),
  },
  server: process.env.AGENTSERVE_DATABASE_URL ? { storage: { type: 'postgres' } } : {},
})
`
const api = '/api/v1'
const words = (count: number) => Array.from({ length: count }, (_, number) => `word${number}`).join(' ')

/** Ctrl-C stops a server without a drain. */
async function stop({ child, finished }: RunningServer): Promise<void> {
  child.kill('SIGINT')
  expect((await finished).code).toBe(130)
}

describePostgres('sessions that move', () => {
  let project: Project
  let database: Place
  let other: Place
  beforeAll(async () => {
    const postgres = await testPostgres()
    database = await postgres.newDatabase()
    other = await postgres.newDatabase()
    project = await createProject({ 'agent.config.ts': config })
  })
  afterAll(async () => {
    await project?.remove()
    await database?.drop()
    await other?.drop()
  })

  async function fill(env: Record<string, string>): Promise<void> {
    const server = await serve(project, 'start', [], env)
    await converse(server).finally(() => stop(server))
  }

  async function converse(server: RunningServer): Promise<void> {
    const call = async (method: string, path: string, body?: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${server.url}${api}${path}`, { method, headers, body: JSON.stringify(body) })
      const text = await answer.text()
      expect(answer.ok || text.includes('run_failed'), `${method} ${path}: ${text}`).toBe(true)
      return text === '' ? {} : JSON.parse(text)
    }
    const run = (agentId: string, input: unknown, more: object = {}) =>
      call('POST', `/agents/${agentId}/run`, { input, ...more })
    const inSession = { session_id: 'long', user_id: 'ann', metadata: { topic: 'moving', big: 1e21, nothing: null } }
    await call('POST', '/sessions', { session_id: 'long', user_id: 'ann', metadata: inSession.metadata })
    await run('counts', 'one', inSession)
    const second = await run('counts', 'two', inSession)
    await run('counts', 'three', inSession)
    await run('counts', 'two again', { ...inSession, replaces: second.run_id })
    await run('echo', words(2_000), inSession)
    const note = {
      type: 'file',
      media_type: 'text/plain',
      name: 'note ü.txt',
      data: Buffer.from('A note.').toString('base64'),
    }
    await run('echo', { parts: [{ type: 'text', text: 'see the file' }, note] }, inSession)
    await run('asks', 'child', inSession)
    await run('breaks', 'x', inSession)
    await call('POST', '/sessions/long/summary')
    await call('POST', '/sessions/long/reuse', { user_id: 'bob', agent_id: 'echo' })
    await run('echo', 'of bob', { session_id: 'long' })
    await call('POST', '/sessions', { session_id: 'waiting' })
    await run('waits', 'waiting', { session_id: 'waiting' })
    await call('POST', '/sessions', { session_id: 'empty', name: 'nothing in it', state: { a: [1, { b: null }] } })
    await call('PUT', '/sessions/long', { name: 'the long one "quoted" \\ and 🙂' })
    for (let number = 0; number < 5; number++) await run('echo', `short ${number}`)
  }

  const postgres = ({ url }: Place) => ({ AGENTSERVE_DATABASE_URL: url })
  const sqlite = (folder: string) => ({ AGENTSERVE_DATA: folder })

  async function sessions(args: string[], env: Record<string, string>): Promise<void> {
    const end = await command(project, ['sessions', ...args], '', env)
    expect(end, `${args.join(' ')}: ${end.stderr}`).toMatchObject({ code: 0 })
  }
  /** The lines of the file, as values: an import may change the order of keys. */
  async function exported(file: string, from: Record<string, string>): Promise<unknown[]> {
    await sessions(['export', '--all', '--output', file], from)
    const lines = (await project.read(file)).trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line))
  }
  async function move(file: string, from: Record<string, string>, to: Record<string, string>): Promise<unknown[]> {
    const lines = await exported(file, from)
    await sessions(['import', file], to)
    return lines
  }

  /** What this server shows of all sessions, over HTTP. */
  async function shown(env: Record<string, string>): Promise<[path: string, answer: unknown][]> {
    const server = await serve(project, 'start', [], env)
    try {
      const get = async (path: string) => (await fetch(`${server.url}${api}${path}`)).text()
      const list = JSON.parse(await get('/sessions?limit=100')) as { sessions: { session_id: string }[] }
      const paths = list.sessions.flatMap(({ session_id: id }) =>
        ['', '/history?limit=100', '/history?limit=100&replaced=true', '/summary'].map(
          (rest) => `/sessions/${id}${rest}`,
        ),
      )
      const runs = JSON.parse(await get('/runs?limit=100')) as { runs: { run_id: string }[] }
      expect(runs.runs.length).toBeGreaterThan(14)
      // An import stores the sessions one after the other.
      for (const id of runs.runs.map(({ run_id }) => run_id).sort())
        paths.push(`/runs/${id}`, `/runs/${id}/trace`, `/runs/${id}/events`)
      paths.push(
        '/sessions?view=head&limit=100',
        '/sessions?user_id=ann',
        '/sessions?user_id=bob',
        '/messages?q=word77',
      )
      const answers: [string, unknown][] = [['/sessions', list]]
      for (const path of paths) {
        const text = (await get(path)).replace(/"request_id":"[^"]*"/, '"request_id":""')
        answers.push([path, path.endsWith('/events') ? text.split('\n') : JSON.parse(text)])
      }
      return answers
    } finally {
      await stop(server)
    }
  }

  test('are the same from SQLite to Postgres, and back', { timeout: 180_000 }, async () => {
    await fill(sqlite('first'))
    const first = await move('first.jsonl', sqlite('first'), postgres(database))
    for (const part of [
      '"replaced_by":"run_',
      '"summary":{',
      '"handovers":{"ann"',
      '"type":"file"',
      '"text":"count 3"',
      '"waiting":[{',
    ])
      expect(await project.read('first.jsonl')).toContain(part)
    const second = await move('second.jsonl', postgres(database), sqlite('second'))
    const third = await move('third.jsonl', sqlite('second'), postgres(other))
    expect(second).toEqual(first)
    expect(third).toEqual(first)
    const before = await shown(sqlite('first'))
    expect(await shown(postgres(database))).toEqual(before)
    expect(await shown(sqlite('second'))).toEqual(before)
  })

  test('are the same when they were made in Postgres', { timeout: 180_000 }, async () => {
    const made = await (await testPostgres()).newDatabase()
    try {
      await fill(postgres(made))
      const before = await move('made.jsonl', postgres(made), sqlite('made'))
      expect(await exported('made-back.jsonl', sqlite('made'))).toEqual(before)
      expect(await shown(sqlite('made'))).toEqual(await shown(postgres(made)))
    } finally {
      await made.drop()
    }
  })
})
