import { afterEach, describe, expect, it, vi } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { RunContext } from '../../../src/core/runnable.ts'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { team } from '../../../src/runnables/team/team.ts'
import { type RemoteAgentSettings, remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { openScriptedServer, type Script } from '../../support/scripted-server.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'
import { answer, callTool, collect, fakeContext, scripted } from '../fixture.ts'

const closing: (() => Promise<unknown>)[] = []
const eventually = (check: () => unknown) => vi.waitFor(check, 20_000)
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

type Config = Parameters<typeof startServer>[0]

async function open(entities: Record<string, object> = {}, config: Config = {}): Promise<RunningTestServer> {
  const server = await startServer(config, entities)
  closing.push(() => server.close())
  return server
}

async function openScript(script: Script): Promise<string> {
  const server = await openScriptedServer(script)
  closing.push(() => server.close())
  return server.url
}

const recall = agent({
  async *run({ history, text }) {
    const said = (await history()).filter(({ role }) => role === 'user').map(({ content }) => content)
    yield [...said, text].join(' | ')
  },
})

const stuck = agent({
  async *run({ signal }) {
    yield 'thinking '
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  },
})

const ask = (server: RunningTestServer, id: string, input: unknown, more: object = {}) =>
  server.call('POST', `/api/v1/agents/${id}/run`, { input, ...more })

describe('remoteAgent()', () => {
  it('sends a file with its content, and one elsewhere by its address', async () => {
    const look = agent({
      async *run({ parts, files }) {
        for (const part of parts) {
          if (part.type !== 'file') continue
          yield `${part.name} `
          yield part.url ?? new TextDecoder().decode(await files.read(part))
        }
      },
    })
    const there = await open({ look })
    const here = await open({ far: remoteAgent({ url: there.url, agentId: 'look' }) })
    const file = { type: 'file', media_type: 'text/plain', name: 'a.txt' }
    const stored = await ask(here, 'far', { parts: [{ ...file, data: btoa('the content') }] })
    expect(stored.json.content).toBe('a.txt the content')
    const elsewhere = await ask(here, 'far', { parts: [{ ...file, url: 'https://example.com/' }] })
    expect(elsewhere.json.content).toBe('a.txt https://example.com/')
  })

  const draws = agent({
    *run() {
      yield 'Here: '
      yield { type: 'file', media_type: 'text/plain', name: 'a.txt', data: btoa('drawn there') }
      yield { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' }
    },
  })

  it('gives a file of the answer as a file of its own run', async () => {
    const there = await open({ draws })
    const here = await open({ far: remoteAgent({ url: there.url, agentId: 'draws' }) })
    const { json } = await ask(here, 'far', 'go')
    const about = { file_id: expect.stringMatching(/^file_/), size: 11 }
    expect(json.messages.at(-1).parts).toEqual([
      { type: 'text', text: 'Here: ' },
      { type: 'file', media_type: 'text/plain', name: 'a.txt', ...about },
      { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' },
    ])
    const { file_id } = json.messages.at(-1).parts[1]
    await there.call(
      'DELETE',
      `/api/v1/sessions/${(await there.call('GET', '/api/v1/sessions')).json.sessions[0].session_id}`,
    )
    const { text } = await here.call('GET', `/api/v1/sessions/${json.session_id}/files/${file_id}`)
    expect(text).toBe('drawn there')
    const events = await here.call('GET', `/api/v1/runs/${json.run_id}/events`)
    expect(events.text).toContain(`"file_id":"${file_id}"`)
    expect(events.text).not.toContain(btoa('drawn there'))
  })

  it('gives a model the files of the answer with its text', async () => {
    const there = await open({ draws })
    const model = scripted(callTool('draws', { message: 'go' }), answer('done'))
    const draw = agent({ model, tools: { draws: remoteAgent({ url: there.url, agentId: 'draws' }) } })
    const here = await open({ draw })
    expect((await ask(here, 'draw', 'go')).json.content).toBe('done')
    const told = JSON.stringify(model.doStreamCalls[1]?.prompt.at(-1))
    expect(told).toContain('Here: ')
    expect(told).toContain(JSON.stringify(new TextEncoder().encode('drawn there')))
  })

  it.each([
    ['no base64', { data: 'no base64!' }, 'a file that is not base64'],
    ['no content', { data: '' }, 'a file that is not base64'],
    ['too much', { data: btoa('x'.repeat(2000)) }, '`fileSize` of 1 KB'],
    ['no web address', { url: 'file:///etc/passwd' }, 'http or https'],
  ])('fails for a file of the answer that can not be kept: %s', async (_name, content, words) => {
    const file = { type: 'file', media_type: 'text/plain', ...content }
    const frames = [{ type: 'content', content: JSON.stringify(file), part: 'data' }, { type: 'done' }]
    const url = await openScript((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''))
    })
    const here = await open({ far: remoteAgent({ url, agentId: 'x' }) }, { limits: { fileSize: 1024 } })
    const { json } = await ask(here, 'far', 'go')
    expect(json.error.message).toContain(words)
  })

  it('keeps at most as many files of an answer as a run may have', async () => {
    const file = { type: 'file', media_type: 'a/b\r\nx: y', name: 'n'.repeat(300), data: btoa('x') }
    const frame = `data: ${JSON.stringify({ type: 'content', content: JSON.stringify(file), part: 'data' })}\n\n`
    const url = await openScript((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(`${frame.repeat(3)}data: {"type":"done"}\n\n`)
    })
    const far = remoteAgent({ url, agentId: 'x' })
    const three = await ask(await open({ far }, { limits: { run: { files: 3 } } }), 'far', 'go')
    const { media_type, name } = three.json.messages.at(-1).parts[0]
    expect([media_type, name.length]).toEqual(['application/octet-stream', 255])
    const two = await ask(await open({ far }, { limits: { run: { files: 2 } } }), 'far', 'go')
    expect(two.json.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('`run.files` of 2') })
  })

  it('is an entity that answers with what the other server says, as it comes', async () => {
    const there = await open()
    const entity = remoteAgent({ url: there.url, agentId: 'echo' })
    const { text, types, error } = await collect(entity, 'one two three')
    expect({ text, error }).toEqual({ text: 'one two three', error: undefined })
    expect(types.every((type) => type === 'text_delta')).toBe(true)
    const here = await open({ far: entity })
    expect((await ask(here, 'far', 'hello there')).json).toMatchObject({ status: 'completed', content: 'hello there' })
    expect((await here.call('GET', '/api/v1/agents/far')).json).toMatchObject({ kind: 'agent', name: 'echo' })
  })

  it('sends data as data', async () => {
    const seen = agent({ run: ({ parts }) => JSON.stringify(parts) })
    const there = await open({ seen })
    const parts = [
      { type: 'text' as const, text: 'look' },
      { type: 'data' as const, data: { a: [1] } },
    ]
    const { text } = await collect(remoteAgent({ url: there.url, agentId: 'seen' }), parts)
    expect(JSON.parse(text)).toEqual(parts)
  })

  it('gives data as data, in an answer and as the result of a tool', async () => {
    const object = { answer: ['[1]', null] }
    const plan = agent({
      *run() {
        yield { type: 'data', data: { draft: true } }
        yield { type: 'data', data: object }
      },
    })
    const both = agent({
      *run() {
        yield 'See {"a":1}'
        yield { type: 'data', data: object }
      },
    })
    const there = await open({ plan, both })
    const far = remoteAgent({ url: there.url, agentId: 'plan' })
    const here = await open({ far, mixed: remoteAgent({ url: there.url, agentId: 'both' }) })
    const run = (await ask(here, 'far', 'go')).json
    expect(run.messages.at(-1).parts).toEqual([
      { type: 'data', data: { draft: true } },
      { type: 'data', data: object },
    ])
    expect(run.content).toBe(JSON.stringify(object))
    expect((await ask(here, 'mixed', 'go')).json.messages.at(-1).parts).toEqual([
      { type: 'text', text: 'See {"a":1}' },
      { type: 'data', data: object },
    ])
    const model = scripted(callTool('plan', { message: 'go' }), answer('done'))
    const { of } = await collect(agent({ model, tools: { plan: far } }), 'go')
    expect(of('tool_result')).toMatchObject([{ name: 'plan', output: object }])
  })

  it('takes the text of a server that does not mark data, and refuses data that is not JSON', async () => {
    const frames = (content: object) => [{ type: 'content', ...content }, { type: 'done' }]
    const send = async (content: object) => {
      const url = await openScript((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(
          frames(content)
            .map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
            .join(''),
        )
      })
      return collect(remoteAgent({ url, agentId: 'x' }), 'go')
    }
    expect((await send({ content: '{"a":1}' })).events).toEqual([{ type: 'text_delta', text: '{"a":1}' }])
    const { error } = await send({ content: '{"a":', part: 'data' })
    expect(error).toMatchObject({
      code: 'run_failed',
      message: expect.stringContaining('it sent data that is not JSON'),
    })
  })

  it('keeps a session there for each session here, and a new one for each call when told so', async () => {
    const there = await open({ recall })
    const far = remoteAgent({ url: there.url, agentId: 'recall' })
    const fresh = remoteAgent({ url: there.url, agentId: 'recall', session: 'new' })
    const here = await open({ far, fresh })
    const { session_id } = (await ask(here, 'far', 'one')).json
    expect((await ask(here, 'far', 'two', { session_id })).json.content).toBe('one | two')
    expect((await ask(here, 'far', 'three')).json.content).toBe('three')
    await ask(here, 'fresh', 'one', { session_id })
    expect((await ask(here, 'fresh', 'two', { session_id })).json.content).toBe('two')
  })

  it('is a member of a team, and a tool of an agent', async () => {
    const there = await open({ recall })
    const far = remoteAgent({ url: there.url, agentId: 'recall', description: 'Knows what was said.' })
    const here = await open({ far, desk: team({ members: ['echo', 'far'] }) })
    expect((await ask(here, 'desk', 'hi')).json.content).toContain('Answer of echo:\nhi')

    const model = scripted(callTool('ask_far', { message: 'what?' }), answer('it said'))
    const asking = agent({ model, tools: { ask_far: far } })
    const { text, of } = await collect(asking, 'go')
    expect(text).toBe('it said')
    expect(of('tool_result')).toMatchObject([{ name: 'ask_far', output: 'what?' }])
    expect(model.doStreamCalls[0]?.tools).toMatchObject([{ name: 'ask_far', description: 'Knows what was said.' }])
  })

  it('cancels the run there when the run here is cancelled', async () => {
    const there = await open({ stuck })
    const here = await open({ far: remoteAgent({ url: there.url, agentId: 'stuck' }) })
    const started = await ask(here, 'far', 'go', { background: true })
    await eventually(async () => {
      const run = (await here.call('GET', `/api/v1/runs/${started.json.run_id}`)).json
      expect(run.messages.at(-1).content).toBe('thinking ')
    })
    await here.call('POST', `/api/v1/runs/${started.json.run_id}/cancel`, {})
    await eventually(async () => {
      const { runs } = (await there.call('GET', '/api/v1/runs')).json
      expect(runs).toMatchObject([{ status: 'cancelled', cancellation_reason: 'client_disconnected' }])
    })
  })

  it('ends a loop of servers that call each other', async () => {
    const settings: RemoteAgentSettings = { url: 'http://127.0.0.1:1', agentId: 'loop' }
    const loop = agent({ run: (context) => remoteAgent(settings).run(context, context as unknown as RunContext) })
    const here = await open({ loop })
    settings.url = here.url
    const { status, json } = await ask(here, 'loop', 'go')
    expect(status).toBe(500)
    expect(json.error.message).toContain('Do they call each other in a circle?')
    const { runs } = (await here.call('GET', '/api/v1/runs')).json
    expect(runs).toHaveLength(9)
  })
})

describe('a remote agent that can not answer', () => {
  const failing = agent({
    run() {
      throw new AppError('run_failed', 'the moon is full')
    },
  })
  const late = agent({
    async *run() {
      yield 'so far '
      throw new AppError('run_failed', 'the moon is full')
    },
  })

  const errorOf = async (settings: Partial<RemoteAgentSettings> & { url: string }) => {
    const { error } = await collect(remoteAgent({ agentId: 'echo', ...settings }), 'hi')
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'run_failed' })
    return (error as AppError).message.replace(/127\.0\.0\.1:\d+/g, 'HOST')
  }

  it('fails the run with what the other server says', async () => {
    const { url } = await open({ failing, late })
    expect(await errorOf({ url, agentId: 'none' })).toBe("The remote agent 'none' at HOST: agent not found: none")
    expect(await errorOf({ url, agentId: 'failing' })).toBe("The remote agent 'failing' at HOST: the moon is full")
    expect(await errorOf({ url, agentId: 'late' })).toBe("The remote agent 'late' at HOST: the moon is full")
  })

  it('asks for the right key, and shows none', async () => {
    const { url } = await open({}, { auth: { keys: ['right-key-123'] } })
    const message = await errorOf({ url, apiKey: 'wrong-key-123' })
    expect(message).toBe("The remote agent 'echo' at HOST: it refused the `apiKey`")
    const { text } = await collect(remoteAgent({ url, agentId: 'echo', apiKey: 'right-key-123' }), 'in')
    expect(text).toBe('in')
    const headers = { 'X-API-Key': 'right-key-123' }
    expect((await collect(remoteAgent({ url, agentId: 'echo', headers }), 'in')).text).toBe('in')
  })

  it('says that nobody is there', async () => {
    expect(await errorOf({ url: 'http://127.0.0.1:1' })).toBe(
      "The remote agent 'echo' at HOST: No answer from http://HOST: nothing listens there; is the server running?",
    )
  })

  it('says that it died in the middle of its answer', async () => {
    const url = await openScript((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"content","content":"half "}\n\n', () => response.destroy())
    })
    expect(await errorOf({ url })).toMatch(/^The remote agent 'echo' at HOST: No answer .*the connection was lost$/)
  })

  it('is given up when it does not begin', async () => {
    const url = await openScript(() => {})
    expect(await errorOf({ url, timeout: 100 })).toContain('did not answer within 100 ms')
  })

  it('is left at once when the run ends', async () => {
    const url = await openScript(() => {})
    const own = new AbortController()
    const left = collect(remoteAgent({ url, agentId: 'echo' }), 'hi', fakeContext({ signal: own.signal }))
    own.abort(new Error('enough'))
    expect((await left).error).toMatchObject({ message: 'enough' })
  })

  it.each([
    [{ agentId: 'a' }, 'remoteAgent(): `url` is missing'],
    [{ url: 'here', agentId: 'a' }, "`url` must be an http or https address like 'http://127.0.0.1:8080'"],
    [{ url: 'http://a', agentId: 'a', key: 'b' }, '`key` is not a setting'],
  ])('refuses %j', (settings, words) => {
    expect(() => remoteAgent(settings as RemoteAgentSettings)).toThrow(words)
  })
})
