import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/runnables/agent/agent.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { run } from '../../src/testing/project.ts'
import { recordedModel } from '../../src/testing/recorded-model.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { openScriptedServer } from '../support/scripted-server.ts'

const picture = Uint8Array.from({ length: 5_000 }, (_, place) => place % 251)

const apiKey = 'sk-secret-key-1234567890'
let folder: string
let file: string
const closing: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-recorded-'))
  file = join(folder, 'recordings/model.json')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const close of closing.splice(0)) await close()
  await rm(folder, { recursive: true, force: true })
})

const event = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

/** Calls the tool when the user asks for the time, else says how often it was asked. */
async function openEndpoint() {
  let calls = 0
  const server = await openScriptedServer((request, response) => {
    calls++
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-secret': 'header-secret' })
    const { messages } = JSON.parse(request.body) as { messages: { role: string; content: string }[] }
    if (messages.at(-1)?.content === 'the time?') {
      const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'clock', arguments: '{}' } }
      response.end(`${event({ tool_calls: [call] })}${event({}, 'tool_calls')}data: [DONE]\n\n`)
    } else {
      response.end(
        `${event({ content: `answer ` })}${event({ content: String(calls) })}${event({}, 'stop')}data: [DONE]\n\n`,
      )
    }
  })
  closing.push(server.close)
  return { url: `${server.url}/v1`, count: () => calls, seen: server.seen }
}

const clock = tool({ description: 'The time', inputSchema: z.object({}), execute: async () => 'noon' })
const ask = (baseURL: string, question: string, at: string | URL = file) =>
  run(agent({ model: recordedModel({ model: { baseURL, model: 'm', apiKey }, file: at }), tools: { clock } }), question)

describe('recordedModel()', () => {
  it('records with the real model once and plays it back without it, tool calls and streaming included', async () => {
    const endpoint = await openEndpoint()
    vi.stubEnv('AGENTSERVE_RECORD', '1')
    const recorded = await ask(endpoint.url, 'the time?')
    expect(recorded.text).toBe('answer 2')
    expect(endpoint.seen[0]?.headers.authorization).toBe(`Bearer ${apiKey}`)
    vi.stubEnv('AGENTSERVE_RECORD', '')
    const played = await ask(endpoint.url, 'the time?')
    expect(played).toMatchObject({ text: 'answer 2', tool_calls: recorded.tool_calls, usage: recorded.usage })
    expect(played.events.map(({ type }) => type)).toEqual(recorded.events.map(({ type }) => type))
    expect(endpoint.count()).toBe(2)
  })

  it('keeps no key, no header and no prompt in the file', async () => {
    const endpoint = await openEndpoint()
    vi.stubEnv('AGENTSERVE_RECORD', '1')
    const longQuestion = `${'long '.repeat(40)}my-password`
    await ask(endpoint.url, longQuestion, pathToFileURL(file))
    const text = await readFile(file, 'utf8')
    for (const secret of [apiKey, 'header-secret', 'my-password', endpoint.url]) expect(text).not.toContain(secret)
    expect(JSON.parse(text)).toMatchObject({ agentserve: 'model-recording/1', model: 'm' })
  })

  it('says how to record what is missing, and asks nobody', async () => {
    const endpoint = await openEndpoint()
    const { status, error } = await ask(endpoint.url, 'never asked')
    expect(status).toBe('failed')
    expect(error?.message).toContain("has no recording of this call of 'm' (“never asked”)")
    expect(error?.message).toContain('AGENTSERVE_RECORD=1 and the same command')
    expect(endpoint.count()).toBe(0)
  })

  it('keeps what is recorded while it adds what is missing, and records all anew when told so', async () => {
    const endpoint = await openEndpoint()
    vi.stubEnv('AGENTSERVE_RECORD', '1')
    expect((await ask(endpoint.url, 'one')).text).toBe('answer 1')
    expect((await ask(endpoint.url, 'two')).text).toBe('answer 2')
    expect((await ask(endpoint.url, 'one')).text).toBe('answer 1')
    vi.stubEnv('AGENTSERVE_RECORD', 'all')
    expect((await ask(endpoint.url, 'one')).text).toBe('answer 3')
    vi.stubEnv('AGENTSERVE_RECORD', '')
    expect((await ask(endpoint.url, 'one')).text).toBe('answer 3')
    expect((await ask(endpoint.url, 'two')).status).toBe('failed')
  })

  it('says what is wrong with a file that is no recording', async () => {
    const wrong = join(folder, 'wrong.json')
    await writeFile(wrong, '{"a":1}')
    expect((await ask('http://127.0.0.1:1/v1', 'one', wrong)).error?.message).toContain('is not a recording of a model')
  })
})

it('keeps files that the model makes beside the recording, and of files in a prompt only a hash', async () => {
  const made = picture.toReversed()
  const input = [{ type: 'file', media_type: 'application/pdf', data: picture }] as const
  const draw = () => {
    const real = scriptedModel({ text: 'Here:', files: [{ media_type: 'image/png', data: made }] })
    return run(agent({ model: recordedModel({ model: real, file }) }), input)
  }
  vi.stubEnv('AGENTSERVE_RECORD', '1')
  const recorded = await draw()
  vi.stubEnv('AGENTSERVE_RECORD', '')
  const played = await draw()
  for (const { events } of [recorded, played]) {
    expect(events).toContainEqual(expect.objectContaining({ type: 'file', media_type: 'image/png', size: 5_000 }))
  }
  const cassette = await readFile(file, 'utf8')
  expect(cassette.length).toBeLessThan(2_000)
  const [, name = ''] = /"content": "([0-9a-f]{32})"/.exec(cassette) ?? []
  expect(new Uint8Array(await readFile(join(folder, 'recordings/model.files', name)))).toEqual(made)
  await rm(join(folder, 'recordings/model.files'), { recursive: true })
  expect((await draw()).error?.message).toContain('is missing. Record it again.')
})
