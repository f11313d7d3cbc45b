import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import type { RunEvent } from '../../../src/core/event.ts'
import type { RunContext } from '../../../src/core/runnable.ts'
import { type RemoteAgentSettings, remoteAgent } from '../../../src/runnables/tools/remote-agent.ts'
import { cardOf, type Give, oldCardOf, openScriptedPeer, type RpcScript } from '../../support/a2a-peer.ts'
import { startServer } from '../../support/server.ts'
import { collect, fakeContext } from '../fixture.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function openPeer(script: RpcScript, card: (url: string) => unknown = cardOf) {
  const peer = await openScriptedPeer(script, card)
  closing.push(() => peer.close())
  return peer
}

const ids = { taskId: 't1', contextId: 'c1' }
const task = (state: string, text?: string, more: object = {}) => ({
  task: {
    id: 't1',
    contextId: 'c1',
    status: { state: `TASK_STATE_${state}`, timestamp: '2026-11-23T00:00:00.000Z' },
    ...(text !== undefined && { artifacts: [{ artifactId: 'a', parts: [{ text }] }] }),
    ...more,
  },
})
const piece = (text: string, append = true) => ({
  artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ text }] }, append },
})
const status = (state: string, ...parts: object[]) => ({
  statusUpdate: {
    ...ids,
    status: { state: `TASK_STATE_${state}`, ...(parts.length > 0 && { message: { messageId: 'm', parts } }) },
  },
})
const tell = (give: Give, ...events: object[]) => {
  for (const event of events) give.event(event)
}
const messageOf = (error: unknown) => {
  expect(error).toBeInstanceOf(AppError)
  expect(error).toMatchObject({ code: 'run_failed' })
  return (error as AppError).message.replace(/127\.0\.0\.1:\d+/g, 'HOST')
}

describe('a stream of a remote agent that is cut', () => {
  it('continues from the present task without a word twice', async () => {
    const { url, calls } = await openPeer((_call, give, index) => {
      if (index === 0) {
        tell(give, task('WORKING'), piece('one ', false), piece('two '))
        return give.cut()
      }
      // A half frame at the end.
      if (index === 1) {
        tell(give, task('WORKING', 'one two three '), piece('four '))
        give.raw('data: {"jsonrpc":"2.0","id":')
        return give.cut()
      }
      tell(give, task('WORKING', 'one two three four five'), status('COMPLETED', { text: 'one two three four five' }))
      give.end()
    })
    const { text, error } = await collect(remoteAgent({ url }), 'go')
    expect({ text, error }).toEqual({ text: 'one two three four five', error: undefined })
    expect(calls.map(({ method }) => method)).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'SubscribeToTask'])
    expect(calls[1]?.params).toEqual({ id: 't1' })
  })

  it('leaves out what a server tells again whose snapshot is behind', async () => {
    const data = {
      artifactUpdate: { ...ids, artifact: { artifactId: 'a', parts: [{ data: { a: 1 } }] }, append: true },
    }
    const { url } = await openPeer((_call, give, index) => {
      if (index === 0) {
        tell(give, task('WORKING'), piece('one two ', false), data, piece('three '))
        return give.cut()
      }
      tell(give, task('WORKING', 'one '), piece('two '), data, piece('three fo'), piece('ur'), status('COMPLETED'))
      give.end()
    })
    const { text, of } = await collect(remoteAgent({ url }), 'go')
    expect([text, of('data').length]).toEqual(['one two three four', 1])
  })

  it('is asked for as a task where the server gives no second stream', async () => {
    const { url, calls } = await openPeer((call, give) => {
      if (call.method === 'SubscribeToTask') return give.error(-32004, 'no')
      if (call.method === 'GetTask') return give.result(task('COMPLETED', 'all of it').task)
      tell(give, task('WORKING'), piece('all ', false))
      give.end()
    })
    expect((await collect(remoteAgent({ url }), 'go')).text).toBe('all of it')
    expect(calls.map(({ method }) => method)).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask'])
  })

  it('is opened five times again without anything new, and then asked for', async () => {
    const { url, calls } = await openPeer((call, give) => {
      if (call.method === 'GetTask') return give.result(task('COMPLETED', 'at last').task)
      tell(give, task('WORKING'))
      give.cut()
    })
    expect((await collect(remoteAgent({ url }), 'go')).text).toBe('at last')
    expect(calls.filter(({ method }) => method === 'SubscribeToTask')).toHaveLength(5)
  })

  it('fails where no task was named, and where the task can not be asked for', async () => {
    const nothing = await openPeer((_call, give) => {
      give.raw(': hb\n\n')
      give.cut()
    })
    const { error } = await collect(remoteAgent({ url: nothing.url }), 'go')
    expect(messageOf(error)).toBe('The remote agent at HOST: No answer from http://HOST: the connection was lost')
    expect(nothing.calls).toHaveLength(1)
    const gone = await openPeer((call, give) => {
      if (call.method !== 'SendStreamingMessage') return give.error(-32001, 'Task not found')
      tell(give, task('WORKING'))
      give.cut()
    })
    const after = await collect(remoteAgent({ url: gone.url }), 'go')
    expect(messageOf(after.error)).toBe('The remote agent at HOST: it answered with the error -32001: Task not found')
  })

  it('leaves out files that come by their address again, and tells what has changed', async () => {
    const file = { filename: 'a.txt', mediaType: 'text/plain' }
    const whole = (...parts: object[]) => task('WORKING', undefined, { artifacts: [{ artifactId: 'a', parts }] })
    const { url } = await openPeer((_call, give, index) => {
      if (index === 0) {
        tell(give, whole({ text: 'one' }, { raw: btoa('x'), ...file }, { data: [1] }))
        return give.cut()
      }
      tell(give, whole({ text: 'one' }, { url: 'https://example.com/a', ...file }, { data: [1] }, { text: 'two' }))
      tell(give, whole({ text: 'other' }, { data: [2] }), status('COMPLETED'))
      give.end()
    })
    const { types, text } = await collect(remoteAgent({ url }), 'go')
    expect(types).toEqual(['text_delta', 'file', 'data', 'text_delta', 'text_delta', 'data'])
    expect(text).toBe('onetwoother')
  })

  it('of version 0.3 continues too, although its errors are events', async () => {
    const old = { id: 't1', contextId: 'c1', kind: 'task' }
    const { url, calls } = await openPeer((call, give) => {
      if (call.method === 'tasks/resubscribe')
        return give.raw('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}\n\n')
      const artifacts = [{ artifactId: 'a', parts: [{ kind: 'text', text: 'old words' }] }]
      if (call.method === 'tasks/get') return give.result({ ...old, status: { state: 'completed' }, artifacts })
      tell(give, { ...old, status: { state: 'working' } })
      give.cut()
    }, oldCardOf)
    expect((await collect(remoteAgent({ url }), 'go')).text).toBe('old words')
    expect(calls[0]).toMatchObject({
      method: 'message/stream',
      params: { message: { kind: 'message', role: 'user', parts: [{ kind: 'text', text: 'go' }] } },
    })
  })
})

describe('a remote agent that waits for input', () => {
  const asks = (...parts: object[]) => status('INPUT_REQUIRED', ...parts)
  const request = { call_id: 'c1', kind: 'approval', tool: 'pay', data: { euro: 5 } }
  const question = { call_id: 'q1', kind: 'input', schema: { type: 'object', required: ['city'] } }

  /** The run as another process resumes it: from its recorded events. */
  function resumedWith(events: readonly object[], answer: Partial<RunContext['resumed']>): RunContext {
    const recorded = JSON.parse(JSON.stringify([...events, { type: 'run_resumed', from: 'input_required', ...answer }]))
    const stamped = (recorded as object[]).map((event, at) => ({ ...event, run_id: 'run_1', seq: at + 2, at: '' }))
    return { ...fakeContext(), resumed: { events: stamped as RunEvent[], ...answer } }
  }

  it('is answered by another process, which tells nothing twice', async () => {
    const { url, calls } = await openPeer((_call, give, index) => {
      if (index === 0) tell(give, task('WORKING'), piece('one ', false), asks({ text: 'Which?\u001b[2J\nA or B' }))
      else if (index === 1) tell(give, task('WORKING', 'one '), piece('two '), asks({ text: 'And?' }))
      // The snapshot before the answer was taken, and after a cut the whole text.
      else if (index === 2) {
        tell(give, task('INPUT_REQUIRED', 'one two ', { status: asks({ text: 'And?' }).statusUpdate.status }))
        tell(give, task('WORKING', 'one two '), piece('three'))
        return give.cut()
      } else tell(give, task('COMPLETED', 'one two three'))
      give.end()
    })
    const first = await collect(remoteAgent({ url }), 'go')
    expect(first.of('input_required')).toMatchObject([{ kind: 'input', prompt: 'Which?\nA or B' }])
    const second = await collect(remoteAgent({ url }), 'go', resumedWith(first.events, { input: 'A' }))
    expect(second.text).toBe('two ')
    const before = [...first.events, { type: 'run_resumed', input: 'A' }, ...second.events]
    const third = await collect(remoteAgent({ url }), 'go', resumedWith(before, { input: { b: 1 } }))
    expect({ text: third.text, error: third.error }).toEqual({ text: 'three', error: undefined })
    const messages = calls.flatMap(({ params }) => (params.message === undefined ? [] : [params.message]))
    expect(messages.slice(1)).toMatchObject([
      { ...ids, parts: [{ text: 'A' }] },
      { ...ids, parts: [{ data: { b: 1 } }] },
    ])
  })

  it.each([
    ['that has it', task('COMPLETED', 'got it'), [], 'got it'],
    [
      'that does not have it',
      task('INPUT_REQUIRED', undefined, { status: asks().statusUpdate.status }),
      [{ kind: 'input' }],
      '',
    ],
  ])('and whose connection is lost with the answer is asked for the task, %s', async (_name, now, requests, said) => {
    const { url } = await openPeer(
      ({ method }, give, index) => {
        if (method === 'GetTask') return give.result(now.task)
        if (index === 0) return give.result(task('INPUT_REQUIRED', undefined, { status: asks().statusUpdate.status }))
        give.response.destroy()
      },
      (url) => cardOf(url, { capabilities: {} }),
    )
    const first = await collect(remoteAgent({ url }), 'go')
    const { of, text, error } = await collect(remoteAgent({ url }), 'go', resumedWith(first.events, { input: 'A' }))
    expect(error).toBeUndefined()
    expect(of('input_required')).toMatchObject(requests)
    expect(text).toBe(said)
  })

  it('of agentserve asks with its schemas and gets each answer by its id', async () => {
    const { url, calls } = await openPeer((_call, give, index) => {
      const all = asks({ text: 'Pay?' }, { data: request }, { text: 'Where?' }, { data: question })
      tell(give, task('WORKING'), index === 0 ? all : status('COMPLETED', { text: 'paid' }))
      give.end()
    })
    const first = await collect(remoteAgent({ url }), 'go')
    const { messages, ...approval } = first.of('input_required')[0] ?? {}
    expect(messages).toMatchObject({ remote: { task_id: 't1', context_id: 'c1' } })
    expect([approval, first.of('input_required')[1]]).toEqual([
      { type: 'input_required', ...request, prompt: 'Pay?' },
      { type: 'input_required', ...question, prompt: 'Where?' },
    ])
    const answers = { c1: { approved: false, reason: 'too much' }, q1: { input: { city: 'Oslo' } } }
    const second = await collect(remoteAgent({ url }), 'go', resumedWith(first.events, { answers }))
    expect(second.text).toBe('paid')
    expect(calls[1]?.params.message.parts).toEqual([
      { data: { answers: { c1: { approved: false, reason: 'too much' }, q1: { input: { city: 'Oslo' } } } } },
    ])
  })

  it.each([
    ['input', { input: 7 }, { input: 7 }],
    ['a decision alone', { approved: true }, { approved: true }],
  ])('of agentserve whose own code asks is answered with %s', async (_name, given, sent) => {
    const { url, calls } = await openPeer((_call, give, index) => {
      tell(give, index === 0 ? asks({ text: 'Go?' }, { data: { kind: 'input' } }) : task('COMPLETED', 'gone'))
      give.end()
    })
    const first = await collect(remoteAgent({ url }), 'go')
    expect(first.of('input_required')).toMatchObject([{ kind: 'input', prompt: 'Go?' }])
    expect((await collect(remoteAgent({ url }), 'go', resumedWith(first.events, given))).text).toBe('gone')
    expect(calls[1]?.params.message.parts).toEqual([{ data: sent }])
  })

  it('gets a decision as text and data where it asks in words only', async () => {
    const { url, calls } = await openPeer((_call, give, index) => {
      tell(give, task('WORKING'), index === 0 ? asks() : status('COMPLETED'))
      give.end()
    })
    const first = await collect(remoteAgent({ url }), 'go')
    expect(first.of('input_required')).toMatchObject([{ prompt: 'The remote agent needs input.' }])
    await collect(remoteAgent({ url }), 'go', resumedWith(first.events, { approved: true }))
    expect(calls[1]?.params.message.parts).toEqual([{ text: 'approve' }, { data: { approved: true } }])
  })

  it('asks without a schema that nobody can read, and not twice by one id', async () => {
    const hostile = { call_id: 'c1', kind: 'input', tool: ['x'], schema: { type: 'nothing' } }
    const { url } = await openPeer((call, give) => {
      if (call.method !== 'SendStreamingMessage') return give.error(-32603, 'no')
      const text = call.params.message.parts[0].text
      tell(
        give,
        task('WORKING'),
        asks(...(text === 'twice' ? [{ data: hostile }, { data: hostile }] : [{ data: hostile }])),
      )
      give.end()
    })
    const { events, error } = await collect(remoteAgent({ url }), 'go')
    expect(error).toBeUndefined()
    expect(events[0]).toEqual({
      type: 'input_required',
      call_id: 'c1',
      kind: 'input',
      prompt: 'The remote agent needs input.',
      messages: expect.anything(),
    })
    expect(messageOf((await collect(remoteAgent({ url }), 'twice')).error)).toContain('with the same `call_id`')
  })
})

describe('the context of a remote agent', () => {
  it('is one per session, by the id of the server where it makes its own', async () => {
    const { url, calls } = await openPeer((_call, give) => {
      tell(give, task('COMPLETED', 'ok'))
      give.end()
    })
    const far = remoteAgent({ url })
    for (const _time of ['first', 'second']) await collect(far, 'go')
    await collect(remoteAgent({ url, session: 'new' }), 'go')
    const contexts = calls.map(({ params }) => params.message.contextId)
    expect(contexts).toEqual([expect.stringMatching(/^remote:[\w-]{32}$/), 'c1', undefined])
  })

  it('is left to a server that refuses ours', async () => {
    const { url, calls } = await openPeer((call, give) => {
      const { contextId } = call.params.message
      if (contextId?.startsWith('remote:')) return give.error(-32602, 'unknown context')
      tell(give, task('COMPLETED', 'ok'))
      give.end()
    })
    const far = remoteAgent({ url })
    expect((await collect(far, 'go')).text).toBe('ok')
    expect((await collect(far, 'go')).text).toBe('ok')
    expect(calls.map(({ params }) => params.message.contextId).slice(1)).toEqual([undefined, 'c1'])
  })
})

describe('a hostile remote agent', () => {
  const errorWith = async (script: RpcScript, settings: Partial<RemoteAgentSettings> = {}) => {
    const { url } = await openPeer((call, give, index) => {
      if (call.method === 'CancelTask') return give.error(-32603, 'no')
      script(call, give, index)
    })
    return messageOf((await collect(remoteAgent({ url, ...settings }), 'go')).error).replace(
      'The remote agent at HOST: ',
      '',
    )
  }
  const deep = () => JSON.parse(`${'['.repeat(400)}${']'.repeat(400)}`) as object

  it.each<[string, (give: Give) => void, string]>([
    ['no JSON', (give) => give.raw('data: {"half":\n\n'), 'it sent an event that is not JSON'],
    ['no object', (give) => give.raw('data: 7\n\n'), 'no JSON-RPC response'],
    ['nothing known', (give) => give.event({ a: 1 }), 'it sent neither a task nor a message'],
    ['a task without an id', (give) => give.event({ task: { status: {} } }), 'it sent a task without an id'],
    ['an id that is a list', (give) => give.event({ task: { id: ['a'] } }), 'an id that is not a text of at most 512'],
    [
      'an endless id',
      (give) => give.event({ task: { id: 'a'.repeat(600) } }),
      'an id that is not a text of at most 512',
    ],
    [
      'a status that is a text',
      (give) => give.event({ task: { id: 'a', status: 'done' } }),
      'status that is not an object',
    ],
    [
      'a state that is a number',
      (give) => give.event({ task: { id: 'a', status: { state: 3 } } }),
      'state is not a text',
    ],
    ['parts that are an object', (give) => give.event({ message: { parts: {} } }), 'parts that are not a list'],
    ['a part of no kind', (give) => give.event({ message: { parts: [{ text: 7 }] } }), 'neither text, data nor a file'],
    ['deep data', (give) => give.event({ message: { parts: [{ data: deep() }] } }), 'nested deeper than 250 levels'],
    ['no base64', (give) => give.event({ message: { parts: [{ raw: '%' }] } }), 'a file that is not base64'],
    [
      'an empty file',
      (give) => give.event({ message: { parts: [{ file: {} }] } }),
      'a file without content and address',
    ],
    [
      'another task',
      (give) => tell(give, task('WORKING'), { task: { ...task('WORKING').task, id: 't2' } }),
      'another task',
    ],
  ])('fails the run that it sends %s', async (_name, send, words) => {
    expect(await errorWith((_call, give) => send(give))).toContain(words)
  })

  it('is told as its error, on one line, short, and without our key', async () => {
    const apiKey = 'a-secret-key-123'
    const said = await errorWith(
      (_call, give) => give.error(-32000, `\u001b[31mred ${apiKey}\u202e\nnext ${'x'.repeat(5000)}`),
      { apiKey },
    )
    expect(said).toMatch(/^it answered with the error -32000: red \*\*\* ?next x+$/)
    expect(said.length).toBeLessThan(600)
  })

  it('is left when it is silent, before its answer and in it', async () => {
    expect(await errorWith(() => {}, { timeout: 100 })).toContain('did not answer within 100 ms')
    const { url, calls } = await openPeer((call, give) => {
      if (call.method === 'CancelTask') return give.error(-32603, 'no')
      if (call.method === 'SendStreamingMessage') tell(give, task('WORKING'))
      else if (call.method === 'GetTask') give.result(task('COMPLETED', 'quiet').task)
      else give.error(-32004, 'no')
    })
    expect((await collect(remoteAgent({ url, timeout: 200 }), 'go')).text).toBe('quiet')
    expect(calls.map(({ method }) => method)).toEqual(['SendStreamingMessage', 'SubscribeToTask', 'GetTask'])
  })

  it('ends by the limits of the run when its text or its artifacts have no end, and is cancelled', async () => {
    const { url, calls } = await openPeer((call, give) => {
      if (call.method === 'CancelTask') return give.result(task('CANCELED').task)
      tell(give, task('WORKING'))
      const send = () => {
        if (!give.response.destroyed)
          give.response.write(`data: ${JSON.stringify({ result: piece('x'.repeat(900)) })}\n\n`, send)
      }
      send()
    })
    const server = await startServer({ limits: { run: { output: '8 KB' } } }, { far: remoteAgent({ url }) })
    closing.push(() => server.close())
    const { json } = await server.call('POST', '/api/v1/agents/far/run', { input: 'go' })
    expect(json.error).toMatchObject({ code: 'run_limit', message: expect.stringContaining('run.output') })
    await expect.poll(() => calls.at(-1)?.method, { timeout: 20_000 }).toBe('CancelTask')
    const many = Array.from({ length: 1001 }, (_, at) => ({ artifactId: `a${at}`, parts: [] }))
    expect(await errorWith((_call, give) => give.event(task('WORKING', '', { artifacts: many })))).toContain(
      '1000 artifacts',
    )
  })
})
