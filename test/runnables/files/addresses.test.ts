import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ToolLoopAgent, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { GivenPart } from '../../../src/core/message.ts'
import { partsOf, toStream } from '../../../src/runnables/again/answer-stream.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import type { Network } from '../../../src/runtime/public-network.ts'
import { scriptedModel } from '../../../src/testing/scripted-model.ts'
import { openFiles, picture, text } from './opened.ts'

/** All public names of this test lead to its own server. */
const network: Network = {
  lookup: async (name) => [{ address: name === 'private.test' ? '10.0.0.1' : '93.184.216.34', family: 4 }],
  reach: () => '127.0.0.1',
}

let files: Server
let at: (path: string, host?: string) => string
let asked: string[] = []
let version = 0

beforeAll(async () => {
  files = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('content-type', 'image/png')
    if (request.url === '/inside') response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
    else if (request.url === '/gone') response.writeHead(404).end()
    else if (request.url === '/large') response.end(picture(2_000))
    else response.end(picture(20, ++version))
  })
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve))
  const { port } = files.address() as AddressInfo
  at = (path, host = 'public.test') => `http://${host}:${port}${path}`
})
afterAll(() => new Promise((resolve) => files.close(resolve).closeAllConnections()))
beforeEach(() => {
  asked = []
  version = 0
})

const named = (url: string): GivenPart => ({ type: 'file', media_type: 'image/png', url })
const fileOf = (data: Uint8Array) => expect.objectContaining({ type: 'file', data: { type: 'data', data } })
const filesIn = (prompt: { content: unknown }[]) =>
  prompt.flatMap(({ content }) => (Array.isArray(content) ? content : [])).filter(({ type }) => type === 'file')

/** A model whose provider takes these addresses itself. */
function accepting(pattern: RegExp, ...answers: string[]) {
  let turn = 0
  return new MockLanguageModelV4({
    supportedUrls: { 'image/*': [pattern] },
    doStream: async () => toStream(partsOf({ text: answers[turn++] ?? 'Seen.' })),
  })
}

test('an address that the provider accepts is passed on as it is', async () => {
  const model = accepting(/^http:\/\/public\.test/)
  await using server = await openFiles({ agents: { helper: agent({ model }) } }, { network })
  const run = await server.run('helper', [named(at('/a.png'))])
  expect(run).toMatchObject({ status: 'completed', error: null })
  expect(asked).toEqual([])
  expect(model.doStreamCalls[0]?.prompt[0]?.content).toEqual([
    expect.objectContaining({ type: 'file', data: { type: 'url', url: new URL(at('/a.png')) } }),
  ])
})

test('any other address is fetched once per run, and later turns see what that run saw', async () => {
  const call = { tool_calls: [{ name: 'wait' }] }
  const model = scriptedModel(call, 'One.', 'Two.')
  const wait = tool({ inputSchema: z.object({}), execute: async () => 'done' })
  await using server = await openFiles({ agents: { helper: agent({ model, tools: { wait } }) } }, { network })
  const { session_id } = await server.run('helper', [named(at('/a.png'))])
  expect(asked).toEqual(['/a.png'])
  await server.run('helper', [text('And now?'), named(at('/a.png'))], session_id)
  expect(asked).toEqual(['/a.png', '/a.png'])
  const seen = model.calls.map(({ prompt }) => filesIn(prompt))
  expect(seen).toEqual([
    [fileOf(picture(20, 1))],
    [fileOf(picture(20, 1))],
    [fileOf(picture(20, 1)), fileOf(picture(20, 2))],
  ])
})

test('a resumed run sees what it saw before its pause', async () => {
  const model = scriptedModel({ tool_calls: [{ name: 'publish' }] }, 'Done.')
  const publish = tool({ inputSchema: z.object({}), execute: async () => 'done' })
  const helper = agent({ model, tools: { publish }, toolApproval: { publish: 'user-approval' } })
  await using server = await openFiles({ agents: { helper } }, { network })
  const paused = await server.run('helper', [named(at('/a.png'))])
  expect(await server.resume(paused.run_id)).toMatchObject({ status: 'completed' })
  expect(filesIn(model.calls[1]?.prompt ?? [])).toEqual([fileOf(picture(20, 1))])
  expect(asked).toEqual(['/a.png'])
})

test.each([
  ['a name with a private address', '/', 'private.test', 'is not an address on the public internet'],
  ['a private address', '/', '127.0.0.1', 'is not an address on the public internet'],
  ['a decimal address', '/', '2130706433', 'is not an address on the public internet'],
  ['a redirect to a private address', '/inside', 'public.test', '169.254.169.254 is not an address'],
  ['a file that is gone', '/gone', 'public.test', 'answered 404'],
  ['a file that is too large', '/large', 'public.test', 'has more than'],
  ['a user and a password', '/', 'ann:secret@public.test', 'with a user or a password'],
])('a run with %s fails, says why, and calls no model', async (_what, path, host, why) => {
  const model = scriptedModel('Never.')
  const server = { limits: { fileSize: 1_000 } }
  await using opened = await openFiles({ agents: { helper: agent({ model }) } }, { network, server })
  const run = await opened.run('helper', [named(at(path, host))])
  expect(run).toMatchObject({ status: 'failed', error: { code: 'run_failed', message: expect.stringContaining(why) } })
  expect(run.error?.message).not.toContain('secret')
  expect(model.calls).toEqual([])
})

test('no agent fetches in another way: not by prepareCall, in a team, hosted, or with another model', async () => {
  const leaks: string[] = []
  const own = async (requests: { url: URL }[]) =>
    requests.map(({ url }) => {
      leaks.push(url.href)
      return { data: picture(5), mediaType: 'image/png' }
    })
  const model = () => scriptedModel('Never.')
  const prepareCall = (options: object) => ({ ...options, experimental_download: own })
  await using server = await openFiles(
    {
      agents: {
        prepared: agent({ model: model(), prepareCall } as never),
        stepped: agent({ model: accepting(/./), prepareStep: () => ({ model: model() }) }),
        hosted: new ToolLoopAgent({ model: model(), experimental_download: own as never, onError: () => {} } as never),
      },
      teams: {
        lead: team({ mode: 'lead', members: [agent({ name: 'a', model: model() })], model: model() }),
        parallel: team({ mode: 'parallel', members: [agent({ name: 'b', model: model() })] }),
      },
    },
    { network },
  )
  for (const id of ['prepared', 'stepped', 'hosted', 'lead', 'parallel']) {
    const run = await server.run(id, [named('http://10.0.0.1/a.png')])
    expect([id, run.status, run.error?.message]).toEqual([id, 'failed', expect.stringContaining('public internet')])
  }
  expect(leaks).toEqual([])
})

test('the setting for it of the AI SDK is refused', () => {
  const settings = { model: scriptedModel('Never.'), experimental_download: async () => [] }
  expect(() => agent(settings as never)).toThrow('experimental_download')
})

test('without fetching, an address that the provider does not accept is refused before a run exists', async () => {
  const helper = agent({ model: accepting(/^http:\/\/public\.test/) })
  const pair = team({ members: [agent({ name: 'a', model: scriptedModel('Never.') })] })
  const server = { files: { fetchUrls: false } }
  await using opened = await openFiles({ agents: { helper }, teams: { pair } }, { network, server })
  expect(await opened.run('helper', [named(at('/a.png'))])).toMatchObject({ status: 'completed' })
  const refused = opened.run('helper', [named(at('/a.png', 'other.test'))])
  await expect(refused).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('fetchUrls'),
  })
  const run = await opened.run('pair', [named(at('/a.png'))])
  expect(run).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('`server.files.fetchUrls` is off') },
  })
  expect(asked).toEqual([])
})
