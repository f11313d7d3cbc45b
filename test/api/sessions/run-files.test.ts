import { afterAll, beforeAll, expect, test } from 'vitest'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { workflow } from '../../../src/runnables/workflow/workflow.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'

const users = ['ann', 'bob'].map((id) => ({ id, key: `key-of-${id}`, userId: id }))
const data = Buffer.from('A note.')
const given = { type: 'file', media_type: 'text/plain', name: 'given.txt', data: data.toString('base64') }

let server: RunningTestServer
beforeAll(async () => {
  server = await startServer(
    { auth: { keys: ['key-of-operator', ...users] } },
    {
      draws: agent({
        // biome-ignore lint/suspicious/noExplicitAny: parts of two kinds
        async *run(): AsyncGenerator<any> {
          yield { type: 'file', media_type: 'text/plain', name: 'made.txt', data }
          yield { type: 'file', media_type: 'image/png', name: 'far.png', url: 'https://evil.example/far.png' }
          yield 'Done.'
        },
      }),
      hands: agent({
        async *run({ parts, ask }) {
          yield (await ask('draws', parts)).text
        },
      }),
      many: workflow({
        async run({ ask }) {
          for (let times = 0; times < 45; times++) await ask('draws', 'a dot')
          return 'Done.'
        },
      }),
    },
  )
})
afterAll(() => server?.close())

const as = (id: string) => ({ 'x-api-key': `key-of-${id}` })
const ask = async (id: string, input: unknown, who = 'ann', session_id?: string) =>
  (await server.call('POST', `/api/v1/agents/${id}/run`, { input, session_id }, as(who))).json
const list = (sessionId: string, more: string, who = 'ann') =>
  server.call('GET', `/api/v1/sessions/${sessionId}/runs?${more}`, undefined, as(who))

test('the runs of a session are listed with the files of their messages, those of runs inside too', async () => {
  const { session_id } = await ask('hands', { parts: [{ type: 'text', text: 'Here.' }, given] })
  const { json } = await list(session_id, 'files=true')
  const [inner, outer] = json.runs
  expect([inner.entity_id, inner.parent_run_id, outer.entity_id]).toEqual(['draws', outer.run_id, 'hands'])
  const [first] = outer.files
  expect(first).toEqual({
    type: 'file',
    media_type: 'text/plain',
    name: 'given.txt',
    file_id: expect.stringMatching(/^file_/),
    size: 7,
    role: 'user',
  })
  expect(inner.files).toEqual([
    first,
    { ...first, name: 'made.txt', file_id: expect.stringMatching(/^file_/), role: 'assistant' },
    { type: 'file', media_type: 'image/png', name: 'far.png', url: 'https://evil.example/far.png', role: 'assistant' },
  ])
  const kept = await server.call(
    'GET',
    `/api/v1/sessions/${session_id}/files/${inner.files[1].file_id}`,
    undefined,
    as('ann'),
  )
  expect(kept.text).toBe('A note.')
  const plain = (await list(session_id, '')).json
  expect(plain.runs).toEqual(json.runs.map(({ files: _, ...run }: { files: unknown }) => run))
  expect((await list(session_id, 'files=false')).json).toEqual(plain)
})

test('pages of many runs have the files of each run once', async () => {
  const { session_id } = await ask('many', 'go')
  const runs: { run_id: string; files: unknown[] }[] = []
  let cursor = ''
  for (let pages = 0; pages < 3; pages++) {
    const { json } = await list(session_id, `files=true&limit=20${cursor}`)
    runs.push(...json.runs)
    cursor = `&cursor=${json.next_cursor}`
    expect(json.next_cursor === null).toBe(pages === 2)
  }
  expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(46)
  expect(runs.map(({ files }) => files.length)).toEqual([...Array(45).fill(2), 0])
})

test('who may not read a session gets none of its files; an earlier user gets those until the handover', async () => {
  const { session_id } = await ask('hands', { parts: [given] })
  expect((await list(session_id, 'files=true', 'bob')).status).toBe(404)
  await server.call('POST', `/api/v1/sessions/${session_id}/reuse`, { user_id: 'bob' }, as('operator'))
  await ask('draws', 'And of bob.', 'bob', session_id)
  const filesOf = async (who: string) =>
    (await list(session_id, 'files=true', who)).json.runs.map(({ files }: { files: unknown[] }) => files.length)
  expect(await filesOf('bob')).toEqual([2, 3, 1])
  expect(await filesOf('operator')).toEqual([2, 3, 1])
  expect(await filesOf('ann')).toEqual([3, 1])
})

test('files takes true or false alone', async () => {
  const { session_id } = await ask('draws', 'go')
  const { status, json } = await list(session_id, 'files=perhaps')
  expect([status, json.error.details[0].path]).toEqual([400, 'files'])
})
