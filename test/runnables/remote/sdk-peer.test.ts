import { afterEach, describe, expect, it, vi } from 'vitest'
import { remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { type Binding, openSdkPeer, type SdkPeer, type Telling } from '../../support/a2a-peer.ts'
import { type RunningTestServer, startServer } from '../../support/server.ts'
import { collect, fakeContext } from '../fixture.ts'

const closing: (() => Promise<unknown>)[] = []
const eventually = (check: () => unknown) => vi.waitFor(check, 20_000)
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const cancelled: string[] = []

async function agent({ asked, message, task, status, artifact, reply, isKnown, ...more }: Telling): Promise<void> {
  if (asked === 'hello?') return reply({ text: 'Hello ' }, { text: 'yourself' })
  task('SUBMITTED')
  if (isKnown) {
    artifact('rest', [{ text: `you said ${JSON.stringify(message.parts)}` }])
    return status('COMPLETED')
  }
  status('WORKING', 'Looking it up')
  switch (asked) {
    case 'parts':
      artifact('a', [{ text: JSON.stringify(message.parts) }])
      break
    case 'data':
      artifact('a', [{ data: { answer: [1, { b: null }] } }])
      break
    case 'file':
      artifact('a', [
        { raw: btoa('drawn there'), filename: 'a.txt', mediaType: 'text/plain' },
        { url: 'https://example.com/a.png', mediaType: 'image/png' },
      ])
      break
    case 'ask':
      artifact('first', [{ text: 'Before. ' }])
      return status('INPUT_REQUIRED', 'Which city?', { data: { cities: ['Rome', 'Oslo'] } })
    case 'refuse':
      return status('REJECTED', 'not \u001b[31mtoday')
    case 'fail':
      return status('FAILED', 'the moon is full')
    case 'sign in':
      return status('AUTH_REQUIRED', 'Open https://example.com/login')
    case 'only status':
      return status('COMPLETED', 'all is well')
    case 'wait':
      artifact('a', [{ text: 'thinking ' }])
      await more.cancelled
      cancelled.push(more.taskId)
      return
    default:
      artifact('a', [{ text: 'Hello ' }])
      artifact('a', [{ text: 'world' }], { append: true, lastChunk: true })
      return status('COMPLETED', 'Hello world')
  }
  status('COMPLETED')
}

async function open(entities: Record<string, object>): Promise<RunningTestServer> {
  const server = await startServer({}, entities)
  closing.push(() => server.close())
  return server
}

const cases: [Binding, boolean][] = [
  ['JSONRPC 1.0', true],
  ['JSONRPC 1.0', false],
  ['HTTP+JSON 1.0', true],
  ['HTTP+JSON 1.0', false],
  ['JSONRPC 0.3', true],
  ['JSONRPC 0.3', false],
]

describe.each(cases)('remoteAgent() with an agent of the official SDK over %s, streaming: %s', (binding, streaming) => {
  let peer: SdkPeer
  const openPeer = async () => {
    peer = await openSdkPeer({ binding, streaming, agent })
    closing.push(() => peer.close())
    return remoteAgent({ url: peer.url })
  }
  const isOld = binding === 'JSONRPC 0.3'

  it('gives its text once, and what it tells meanwhile as reasoning', async () => {
    const far = await openPeer()
    const { text, error, types } = await collect(far, 'hi')
    expect({ text, error }).toEqual({ text: 'Hello world', error: undefined })
    if (streaming) expect(types).toEqual(['reasoning_delta', 'text_delta', 'text_delta'])
    expect((await collect(far, 'hello?')).text).toBe('Hello yourself')
    expect((await collect(far, 'only status')).text).toBe('all is well')
  })

  it('gives data as data and files as files of the session, and sends both', async () => {
    const far = await openPeer()
    expect((await collect(far, 'data')).of('data')).toEqual([{ type: 'data', data: { answer: [1, { b: null }] } }])
    expect((await collect(far, 'file')).of('file')).toEqual([
      { type: 'file', media_type: 'text/plain', name: 'a.txt', file_id: 'file_1', size: 11 },
      { type: 'file', media_type: 'image/png', url: 'https://example.com/a.png' },
    ])
    const sent = await collect(far, [
      { type: 'text', text: 'parts' },
      { type: 'data', data: { a: [1] } },
      { type: 'data', data: 7 },
      { type: 'file', media_type: 'text/plain', name: 'b.txt', url: 'https://example.com/b' },
    ])
    expect(JSON.parse(sent.text)).toMatchObject([
      { text: 'parts' },
      { data: { a: [1] } },
      { data: 7 },
      { url: 'https://example.com/b', filename: 'b.txt', mediaType: 'text/plain' },
    ])
  })

  it('pauses with its question, and answers it when the run is resumed', async () => {
    const here = await open({ far: await openPeer() })
    const paused = (await here.call('POST', '/api/v1/agents/far/run', { input: 'ask' })).json
    expect(paused).toMatchObject({
      status: 'input_required',
      waiting: [{ kind: 'input', prompt: 'Which city?', data: { cities: ['Rome', 'Oslo'] } }],
    })
    expect(paused.content).toBe('Before. ')
    const resumed = await here.call('POST', `/api/v1/runs/${paused.run_id}/resume`, { input: 'Rome' })
    expect(resumed.json.status).toBe('completed')
    expect(resumed.json.content).toMatch(/^Before\. (\n\n)?you said \[\{.*Rome.*\}\]$/)
    const { text } = await here.call('GET', `/api/v1/runs/${paused.run_id}/events`)
    expect(text).not.toContain('task_id')
  })

  it('fails with what the agent says', async () => {
    const far = await openPeer()
    const errorOf = async (asked: string) => {
      const { error } = await collect(far, asked)
      return (error as Error).message.replace(/127\.0\.0\.1:\d+/g, 'HOST')
    }
    expect(await errorOf('refuse')).toBe('The remote agent at HOST: it refused the task: not today')
    expect(await errorOf('fail')).toBe('The remote agent at HOST: the moon is full')
    expect(await errorOf('sign in')).toContain('an authorization that it does not have: Open https://example.com/login')
  })

  it('is cancelled when the run here is', async () => {
    const here = await open({ far: await openPeer() })
    const { run_id } = (await here.call('POST', '/api/v1/agents/far/run', { input: 'wait', background: true })).json
    await eventually(async () => {
      expect((await here.call('GET', `/api/v1/runs/${run_id}`)).json.messages.at(-1).content).toBe('thinking ')
    })
    const before = cancelled.length
    await here.call('POST', `/api/v1/runs/${run_id}/cancel`, {})
    await eventually(() => expect(cancelled.length).toBe(before + 1))
  })

  it('says its version and how often the request was passed on', async () => {
    const far = await openPeer()
    await collect(far, 'hi')
    await collect(far, 'hi')
    expect(peer.calls.filter((call) => call.includes('.well-known'))).toHaveLength(1)
    const version = isOld ? '0.3' : '1.0'
    expect(peer.headers.at(-1)).toMatchObject({ 'a2a-version': version, 'x-agentserve-hops': '1' })
    const passedOn = (hops: number) => collect(far, 'hi', { ...fakeContext(), metadata: { remote_hops: hops } })
    await passedOn(3)
    expect(peer.headers.at(-1)).toMatchObject({ 'x-agentserve-hops': '4' })
    const requests = peer.calls.length
    expect((await passedOn(8)).error).toMatchObject({ message: expect.stringContaining('in a circle?') })
    expect(peer.calls.length).toBe(requests)
  })
})
