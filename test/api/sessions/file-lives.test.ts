import { tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ServerConfig } from '../../../src/config/types.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { type As, api, type People, withPeople } from '../access/people.ts'

const ways: [string, ServerConfig][] = [
  ['SQLite', {}],
  ['memory', { sessionStorage: 'memory' }],
]
interface PromptPart {
  type: string
  data?: { type: string; data: Uint8Array }
}

const ndjson = { 'content-type': 'application/x-ndjson' }
const upload = (text: string) => ({ type: 'file', media_type: 'text/plain', name: 'secret-name.txt', data: btoa(text) })

describe.each(ways)('files through the life of a run, with %s', (_way, config) => {
  let people: People
  let ann: As
  let operator: As
  /** The bytes of the files in the last prompt. */
  let prompted: string[] = []

  beforeAll(async () => {
    const model = scriptedModel(({ prompt }) => {
      const parts = prompt.flatMap(({ content }) => (typeof content === 'string' ? [] : (content as PromptPart[])))
      prompted = parts.flatMap((part) =>
        part.type === 'file' && part.data?.type === 'data' ? [Buffer.from(part.data.data).toString('latin1')] : [],
      )
      const said = parts.some(({ type }) => type === 'tool-result')
      return said || !JSON.stringify(parts).includes('Publish') ? 'Done.' : { tool_calls: [{ name: 'publish' }] }
    })
    const publish = tool({ inputSchema: z.object({}), execute: async () => 'published' })
    people = await withPeople(
      ['ann'],
      { ...config, limits: { run: { files: 2 } } },
      {
        publisher: agent({ model, tools: { publish }, toolApproval: { publish: 'user-approval' } }),
        guarded: agent({ model, guardrails: { input: () => ({ refuse: 'Not that.' }) } }),
      },
    )
    ;[ann, operator] = [people.as('ann'), people.operator]
  })
  afterAll(() => people.server.close())

  const runOf = async (agentId: string, body: object) => (await ann('POST', `${api}/agents/${agentId}/run`, body)).json
  const read = (session: string, fileId: string) => ann('GET', `${api}/sessions/${session}/files/${fileId}`)
  const input = (...files: string[]) => ({ parts: [{ type: 'text', text: 'Publish this.' }, ...files.map(upload)] })

  test('nothing is left of the files of a refused input', async () => {
    const { run_id, session_id, content, messages } = await runOf('guarded', {
      input: input('the refused content'),
      history: [{ role: 'user', parts: [upload('the refused history')] }],
    })
    expect(content).toBe('Not that.')
    expect(JSON.stringify(messages)).not.toContain('file_')
    const answers = [
      await operator('GET', `${api}/runs/${run_id}`),
      await operator('GET', `${api}/runs/${run_id}/events`),
      await operator('GET', `${api}/sessions/${session_id}/history?stream_events=true&num_messages=100`),
      await operator('GET', `${api}/sessions/${session_id}/export`),
      await operator('GET', `${api}/messages?q=secret`),
      await operator('GET', `${api}/users/ann/export`),
    ]
    for (const { status, text } of answers) {
      expect(status).toBe(200)
      expect(text).not.toMatch(/secret-name|file_\w{26}/)
      expect(text).not.toContain(btoa('the refused content'))
      expect(text).not.toContain(btoa('the refused history'))
    }
  })

  test('files of a given history reach the model byte for byte and go with their run', async () => {
    const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte))
    const history = [{ role: 'user', parts: [upload(bytes)] }]
    const { run_id, session_id } = await runOf('publisher', { input: 'What is it?', history })
    expect(prompted).toEqual([bytes])
    const copy = (await operator('GET', `${api}/sessions/${session_id}/export`)).text
    const [fileId = ''] = /file_\w{26}/.exec(copy) ?? []
    expect((await read(session_id, fileId)).status).toBe(200)
    expect((await ann('DELETE', `${api}/sessions/${session_id}`)).status).toBe(200)
    expect((await read(session_id, fileId)).status).toBe(404)
    expect((await ann('GET', `${api}/runs/${run_id}`)).status).toBe(404)
  })

  test('files of a given history count in `run.files`', async () => {
    const history = [{ role: 'user', parts: [upload('one'), upload('two')] }]
    const refused = await ann('POST', `${api}/agents/publisher/run`, { input: input('three'), history })
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('`run.files` is 2')])
    const taken = await ann('POST', `${api}/agents/publisher/run`, { input: 'What?', history })
    expect(taken.status).toBe(200)
  })

  test('a fork at a run has no files of later runs', async () => {
    const first = await runOf('echo', { input: input('early') })
    const { session_id } = first
    const second = await runOf('echo', { input: input('late'), session_id })
    const ids = [first, second].map(({ messages }) => messages[0].parts[1].file_id)
    const fork = await ann('POST', `${api}/sessions/${session_id}/fork`, { run_id: first.run_id })
    expect([fork.status, fork.text]).toEqual([201, fork.text])
    const found = []
    for (const id of ids) found.push((await read(fork.json.session_id, id)).status)
    expect(found).toEqual([200, 404])
    expect((await operator('GET', `${api}/sessions/${fork.json.session_id}/export`)).text).not.toContain(ids[1])
  })

  const copies: [string, (session: string) => Promise<string>][] = [
    [
      'an import with new ids',
      async (session) => {
        const copy = (await operator('GET', `${api}/sessions/${session}/export?stream_events=true`)).text
        return (await operator('POST', `${api}/sessions/import?new_ids=true`, copy, ndjson)).json.session_id
      },
    ],
    ['a fork', async (session) => (await operator('POST', `${api}/sessions/${session}/fork`, {})).json.session_id],
  ]
  test.each(copies)('a paused run goes on with its file after %s', async (_copy, copied) => {
    const { session_id, status } = await runOf('publisher', { input: input('the paused content') })
    expect(status).toBe('input_required')
    const other = await copied(session_id)
    await operator('DELETE', `${api}/sessions/${session_id}`)
    const [run] = (await operator('GET', `${api}/sessions/${other}/runs`)).json.runs
    const [part] = (await operator('GET', `${api}/runs/${run.run_id}`)).json.messages[0].parts.slice(1)
    expect((await operator('GET', `${api}/sessions/${other}/files/${part.file_id}`)).text).toBe('the paused content')
    prompted = []
    const resumed = await operator('POST', `${api}/runs/${run.run_id}/resume`, { approved: true })
    expect([run.status, resumed.status, resumed.text]).toEqual(['input_required', 200, resumed.text])
    expect(resumed.json.content).toBe('Done.')
    expect(prompted).toEqual(['the paused content'])
  })

  test('a run that begins in a fork has the files of the earlier runs', async () => {
    const { session_id } = await runOf('publisher', { input: { parts: [upload('the forked content')] } })
    const fork = (await ann('POST', `${api}/sessions/${session_id}/fork`, {})).json.session_id
    await ann('DELETE', `${api}/sessions/${session_id}`)
    await runOf('publisher', { input: 'And now?', session_id: fork })
    expect(prompted).toEqual(['the forked content'])
  })

  test('two forms at once with one key are one run with one file', async () => {
    const form = () => {
      const data = new FormData()
      data.append('request', JSON.stringify({ input: 'see' }))
      data.append('file', new File(['twice'], 'secret-name.txt', { type: 'text/plain' }))
      return data
    }
    const key = { 'idempotency-key': 'one' }
    const send = () => ann('POST', `${api}/agents/echo/run/stream`, form(), key)
    const answers = await Promise.all([send(), send(), send()])
    const runs = new Set(answers.map(({ headers }) => headers.get('x-run-id')).filter((id) => id !== null))
    expect(runs.size).toBe(1)
    const session = answers.find(({ status }) => status === 200)?.headers.get('x-session-id')
    const copy = (await operator('GET', `${api}/sessions/${session}/export`)).text
    expect(copy.split(btoa('twice'))).toHaveLength(2)
  })
})
