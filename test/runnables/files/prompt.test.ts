import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolLoopAgent, tool } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { type ScriptedAnswer, scriptedModel } from '../../../src/testing/scripted-model.ts'
import { eventsOf } from '../agent-server.ts'
import { openFiles, picture, text, upload } from './opened.ts'

const inPrompt = (mediaType: string, filename: string | undefined, data: Uint8Array) =>
  expect.objectContaining({ type: 'file', mediaType, filename, data: { type: 'data', data } })

test('the model gets files of the input and of the history byte for byte, in order', async () => {
  const model = scriptedModel('One.', 'Two.')
  await using server = await openFiles({ agents: { helper: agent({ model }) } })
  const [first, second] = [picture(100), Uint8Array.from([0, 255, 128])]
  const parts = [text('Before.'), upload(first), text('After.'), upload(second, 'application/pdf', 'b.pdf')]
  const { session_id } = await server.run('helper', parts)
  await server.run('helper', [text('And now?')], session_id)
  const content = [
    { type: 'text', text: 'Before.' },
    inPrompt('image/png', 'a.png', first),
    { type: 'text', text: 'After.' },
    inPrompt('application/pdf', 'b.pdf', second),
  ]
  expect(model.calls[0]?.prompt.map((message) => message.content)).toEqual([content])
  expect(model.calls[1]?.prompt[0]?.content).toEqual(content)
})

test('a message with only a file is a valid input, and needs no search', async () => {
  const model = scriptedModel('A square.')
  await using server = await openFiles({ agents: { helper: agent({ model, knowledge: true }) } })
  const run = await server.run('helper', [upload(picture(10))])
  expect(run).toMatchObject({ status: 'completed', error: null })
  expect(model.calls[0]?.prompt[0]?.content).toEqual([inPrompt('image/png', 'a.png', picture(10))])
})

test('a trace shows a file by name, type and size, and other turns refer to it', async () => {
  const model = scriptedModel('One.', 'Two.')
  await using server = await openFiles({ agents: { helper: agent({ model }) } })
  const first = await server.run('helper', [text('Look.'), upload(picture(64))])
  const second = await server.run('helper', [text('Again.')], first.session_id)
  const shown = { type: 'file', mediaType: 'image/png', filename: 'a.png', size: 64 }
  const message = { role: 'user', content: [{ type: 'text', text: 'Look.' }, shown] }
  for (const [run, count] of [
    [first, 1],
    [second, 3],
  ] as const) {
    const { calls } = await server.services.runs.trace(run.run_id, { limit: 10 })
    expect(calls[0]?.messages).toHaveLength(count)
    expect(calls[0]?.messages).toContainEqual(message)
  }
  const recorded: unknown[] = []
  for await (const batch of await server.services.runs.events(second.run_id, 0)) recorded.push(...batch)
  expect(JSON.stringify(recorded)).toContain('"turns":[1,1]')
})

test('the database has the bytes once: after two turns, a pause, a restart and a resume', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'sessions.db')
  const marker = randomBytes(48)
  const bytes = new Uint8Array(Buffer.concat([marker, randomBytes(3_000)]))
  const publish = tool({ inputSchema: z.object({}), execute: async () => 'published' })
  const open = (...answers: (string | ScriptedAnswer)[]) => {
    const model = scriptedModel(...answers)
    const helper = agent({ model, tools: { publish }, toolApproval: { publish: 'user-approval' } })
    return openFiles({ agents: { helper } }, { path }).then((server) => ({ model, server }))
  }
  const before = await open('Seen.', 'Seen again.', { tool_calls: [{ name: 'publish' }] })
  const { session_id } = await before.server.run('helper', [upload(bytes, 'application/pdf')])
  await before.server.run('helper', [text('And now?')], session_id)
  const paused = await before.server.run('helper', [text('Publish it.'), upload(bytes, 'application/pdf')], session_id)
  expect(paused).toMatchObject({ status: 'input_required' })
  await before.server.close()
  const after = await open('Done.')
  expect(await after.server.resume(paused.run_id)).toMatchObject({ status: 'completed', error: null })
  const files = after.model.calls[0]?.prompt.flatMap((message) =>
    Array.isArray(message.content) ? message.content.filter((part) => part.type === 'file') : [],
  )
  expect(files).toEqual([inPrompt('application/pdf', 'a.png', bytes), inPrompt('application/pdf', 'a.png', bytes)])
  await after.server.close()
  const contents = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name))))
  const count = (wanted: Uint8Array) =>
    Buffer.concat(contents).toString('latin1').split(Buffer.from(wanted).toString('latin1')).length - 1
  expect(count(marker)).toBe(1)
  expect(count(Buffer.from(marker.toString('base64')))).toBe(0)
  expect(count(Buffer.from(marker.toString('hex')))).toBe(0)
})

test('a file that the model makes is an event and a part of the answer, and the model gets it back', async () => {
  const made = picture(2_000, 3)
  const model = scriptedModel({ text: 'Here:', files: [{ media_type: 'image/png', data: made }] }, 'Nice.')
  await using server = await openFiles({ agents: { helper: agent({ model }) } })
  const run = await server.run('helper', [text('Draw.')])
  const file = { type: 'file', media_type: 'image/png', file_id: expect.stringMatching(/^file_/), size: 2_000 }
  expect(run.messages[1]?.parts).toEqual([{ type: 'text', text: 'Here:' }, file])
  expect(eventsOf(await server.events(run.run_id), 'file')).toHaveLength(1)
  await server.run('helper', [text('Nice?')], run.session_id)
  expect(model.calls[1]?.prompt[1]?.content).toEqual([
    { type: 'text', text: 'Here:' },
    inPrompt('image/png', undefined, made),
  ])
})

test('files that a model makes count for the limits of the run', async () => {
  const file = { media_type: 'image/png', data: picture(10) }
  const other = { media_type: 'image/png', data: picture(11) }
  const model = scriptedModel({ files: [file, other] })
  await using server = await openFiles(
    { agents: { helper: agent({ model }) } },
    { server: { limits: { run: { files: 1 } } } },
  )
  const run = await server.run('helper', [text('Draw.')])
  expect(run).toMatchObject({ status: 'failed', error: { code: 'run_limit' } })
})

test('hooks and guardrails see files: a model call has the bytes, a check the parts', async () => {
  const seen: unknown[] = []
  const helper = agent({
    model: scriptedModel('Yes.'),
    guardrails: {
      input: async ({ parts, files }) =>
        void seen.push(parts[0], parts[0]?.type === 'file' && (await files.read(parts[0]))),
    },
    hooks: {
      modelCall: async ({ params }, next) => {
        seen.push(params.prompt[0]?.content)
        await next()
      },
    },
  })
  await using server = await openFiles({ agents: { helper } })
  await server.run('helper', [upload(picture(20))])
  expect(seen).toEqual([
    expect.objectContaining({ type: 'file', name: 'a.png', size: 20 }),
    picture(20),
    [inPrompt('image/png', 'a.png', picture(20))],
  ])
})

test('an agent of the AI SDK gets files as its model does', async () => {
  const model = scriptedModel('One.', 'Two.')
  await using server = await openFiles({ agents: { hosted: new ToolLoopAgent({ model }) } })
  const { session_id } = await server.run('hosted', [upload(picture(30))])
  await server.run('hosted', [text('More.')], session_id)
  expect(model.calls[1]?.prompt[0]?.content).toEqual([inPrompt('image/png', 'a.png', picture(30))])
})

test('the members of a team get the files, in every mode', async () => {
  const models = Object.fromEntries(
    ['sequence', 'parallel', 'route', 'lead'].map((mode) => [mode, scriptedModel('Seen.')]),
  )
  const ask = { tool_calls: [{ name: 'ask_member', input: { task: 'Look.' } }] }
  const members = (mode: string) => [agent({ name: 'member', model: models[mode] as never })]
  await using server = await openFiles({
    teams: {
      sequence: team({ mode: 'sequence', members: members('sequence') }),
      parallel: team({ mode: 'parallel', members: members('parallel') }),
      route: team({ mode: 'route', members: members('route'), model: scriptedModel(ask) }),
      lead: team({ mode: 'lead', members: members('lead'), model: scriptedModel(ask, 'Done.') }),
    },
  })
  for (const [mode, model] of Object.entries(models)) {
    const run = await server.run(mode, [text('What is it?'), upload(picture(40))])
    expect(run).toMatchObject({ status: 'completed', error: null })
    expect(model.calls[0]?.prompt.at(-1)?.content, mode).toContainEqual(inPrompt('image/png', 'a.png', picture(40)))
  }
})

test('an agent without a model says what it has not read', async () => {
  await using server = await openFiles({ agents: { plain: agent({}), docs: agent({ knowledge: true }) } })
  for (const id of ['plain', 'docs']) {
    const run = await server.run(id, [
      upload(picture(10)),
      { type: 'file', media_type: 'text/csv', url: 'https://a.test/b' },
    ])
    expect(run.messages[1]?.content).toContain('I have not read a.png (image/png), https://a.test/b (text/csv)')
  }
})

test('a provider that refuses a type of file fails the run with its own words', async () => {
  const error = new Error("'file part media type application/zip' functionality not supported.")
  await using server = await openFiles({ agents: { helper: agent({ model: scriptedModel({ error }) }) } })
  const run = await server.run('helper', [upload(picture(10), 'application/zip', 'a.zip')])
  expect(run.error?.message).toContain('application/zip')
})

test('older files of a long history are named when all are more than a model can get', async () => {
  const model = scriptedModel(...Array.from({ length: 4 }, () => 'Seen.'))
  await using server = await openFiles({ agents: { helper: agent({ model }) } })
  let sessionId: string | undefined
  for (const fill of [1, 2, 3]) {
    const large = picture(7.5 * 1024 * 1024, fill)
    sessionId = (await server.run('helper', [upload(large, 'image/png', `${fill}.png`)], sessionId)).session_id
  }
  await server.run('helper', [text('Which?')], sessionId)
  const contents = model.calls[3]?.prompt.filter(({ role }) => role === 'user').map(({ content }) => content[0])
  expect(contents?.[0]).toEqual({ type: 'text', text: '[An earlier file is left out: 1.png, image/png]' })
  expect(contents?.[1]).toMatchObject({ type: 'file', filename: '2.png' })
})
