import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agent } from '../../src/runnables/agent/agent.ts'
import { tool } from '../../src/runnables/tools/tool.ts'
import { answer, callTool, scripted } from '../runnables/fixture.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'

type Parts = ReturnType<typeof answer>

/** Both calls in one turn. */
function callBoth(): Parts {
  const [start, call, finish] = callTool('wipe', { disk: 'a' }) as [Parts[0], Parts[0], Parts[0]]
  return [start, { ...call, toolCallId: 'one' } as Parts[0], { ...call, toolCallId: 'two' } as Parts[0], finish]
}

const wiped: string[] = []
let answers: Parts[] = []
let prompts: unknown[] = []
let server: RunningTestServer

function careful() {
  let turn = 0
  const model = scripted()
  model.doStream = async (options) => {
    prompts.push(options.prompt)
    const stream = new ReadableStream<Parts[0]>({
      start(controller) {
        for (const part of answers[turn] ?? []) controller.enqueue(part)
        turn++
        controller.close()
      },
    })
    return { stream }
  }
  return {
    entity: agent({
      model,
      tools: {
        wipe: tool({
          inputSchema: z.object({ disk: z.string() }),
          execute: ({ disk }) => {
            wiped.push(disk)
            return `wiped ${disk}`
          },
        }),
        look: tool({ inputSchema: z.object({}), execute: () => 'seen' }),
      },
      toolApproval: { wipe: 'user-approval' },
    }),
    restart() {
      turn = 0
    },
  }
}

const agentUnderTest = careful()
const other = agent({ run: () => 'other' })
const slow = Promise.withResolvers<void>()
const waiting = agent({ run: () => slow.promise.then(() => 'slow') })

beforeAll(async () => {
  server = await startServer({}, { careful: agentUnderTest.entity, other, waiting })
})
afterAll(() => server.close())
beforeEach(() => {
  wiped.length = 0
  prompts = []
  agentUnderTest.restart()
  answers = [callTool('wipe', { disk: 'sda' }), answer('It ', 'is gone.')]
})

const start = (more = {}) =>
  server.call(
    'POST',
    '/api/v1/agents/careful/run',
    { input: 'Wipe sda', ...more },
    { 'idempotency-key': crypto.randomUUID() },
  )
const resume = (runId: string, body: unknown = { approved: true }, headers = {}) =>
  server.call('POST', `/api/v1/runs/${runId}/resume`, body, headers)
const events = async (runId: string, query = '') =>
  frames((await server.call('GET', `/api/v1/runs/${runId}/events${query}`)).text)

function frames(text: string) {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('id:'))
    .map(
      (frame) =>
        JSON.parse(frame.slice(frame.indexOf('data: ') + 6)) as { type: string; seq: number; [key: string]: unknown },
    )
}

describe('a tool that needs approval', () => {
  it('pauses the run, and tells what is waited for', async () => {
    const { status, json } = await start()
    expect({ status, json }).toMatchObject({ status: 200, json: { status: 'input_required', content: '' } })
    const seen = await events(json.run_id)
    expect(seen.map(({ type }) => type).slice(-2)).toEqual(['input_required', 'run_end'])
    expect(seen.at(-2)).toMatchObject({
      call_id: 'use-wipe',
      prompt: "Allow the tool 'wipe' to run?",
      data: { disk: 'sda' },
    })
    expect(seen.at(-2)).not.toHaveProperty('messages')
    expect(wiped).toEqual([])
    const paused = await server.call('GET', '/api/v1/runs?status=input_required')
    expect(paused.json.runs).toContainEqual(expect.objectContaining({ run_id: json.run_id }))
  })

  it('goes on when it is approved, in one stream and one answer', async () => {
    const { json } = await start()
    const { status, json: resumed } = await resume(json.run_id)
    expect({ status, resumed }).toMatchObject({
      status: 200,
      resumed: { run_id: json.run_id, status: 'completed', content: 'It is gone.', usage: { total_tokens: 20 } },
    })
    expect(wiped).toEqual(['sda'])
    const seen = await events(json.run_id)
    expect(seen.map(({ type }) => type)).toEqual([
      'run_start',
      'model_call_start',
      'tool_call',
      'model_call_end',
      'input_required',
      'run_resumed',
      'tool_result',
      'model_call_start',
      'text_delta',
      'text_delta',
      'model_call_end',
      'run_end',
    ])
    expect(seen.find(({ type }) => type === 'run_resumed')).toMatchObject({ from: 'input_required', approved: true })
    expect(seen.map(({ seq }) => seq)).toEqual([...new Set(seen.map(({ seq }) => seq))].sort((a, b) => a - b))
    const tail = await events(json.run_id, `?after=${seen[5]?.seq}`)
    expect(tail).toEqual(seen.slice(6))
    const history = await server.call('GET', `/api/v1/sessions/${json.session_id}/history`)
    expect(history.json.messages.map((message: { content: string }) => message.content)).toEqual([
      'Wipe sda',
      'It is gone.',
    ])
  })

  it('goes on without the call when it is refused, and the model is told why', async () => {
    answers[1] = answer('Then not.')
    const { json } = await start()
    expect((await resume(json.run_id, { approved: false, input: 'too risky' })).json.content).toBe('Then not.')
    expect(wiped).toEqual([])
    expect(JSON.stringify(prompts[1])).toContain('too risky')
    const result = (await events(json.run_id)).find(({ type }) => type === 'tool_result')
    expect(result).toMatchObject({ error: { message: 'The call was not approved.' }, denied: true })
    const { calls } = (await server.call('GET', `/api/v1/runs/${json.run_id}/trace`)).json
    expect(calls[0].tool_calls).toMatchObject([{ name: 'wipe', denied: true }])
    expect(calls[0]).not.toHaveProperty('first_text_ms')
    const last = (await events(json.run_id)).findLast(({ type }) => type === 'model_call_end')
    expect(calls[1].first_text_ms).toBe(last?.first_text_ms)
    expect(calls[1].first_text_ms).toBeGreaterThanOrEqual(0)
  })

  it('decides each call by itself, and asks again for what is left open', async () => {
    answers = [callBoth(), answer('done')]
    const { json } = await start()
    const refused = await resume(json.run_id, { approved: { one: true } })
    expect(refused).toMatchObject({ status: 400, json: { error: { details: [{ path: 'approved' }] } } })
    expect((await resume(json.run_id, {})).status).toBe(400)
    expect((await server.call('GET', `/api/v1/runs/${json.run_id}`)).json.status).toBe('input_required')
    expect((await resume(json.run_id, { approved: { one: true, two: false } })).json.status).toBe('completed')
    expect(wiped).toEqual(['a'])
    const results = (await events(json.run_id)).filter(({ type }) => type === 'tool_result')
    expect(results.map(({ call_id, denied }) => [call_id, denied]).sort()).toEqual([
      ['one', undefined],
      ['two', true],
    ])
  })

  it('may pause again, with everything said so far', async () => {
    answers = [callTool('wipe', { disk: '1' }), callTool('wipe', { disk: '2' }), answer('both')]
    const { json } = await start()
    expect((await resume(json.run_id)).json).toMatchObject({ status: 'input_required' })
    expect((await resume(json.run_id)).json).toMatchObject({ status: 'completed', content: 'both' })
    expect(wiped).toEqual(['1', '2'])
    expect(JSON.stringify(prompts[2])).toMatch(/wiped 1.*wiped 2/)
  })

  it('is resumed once by two that send the same answer at the same time; both get the run', async () => {
    const { json } = await start()
    const both = await Promise.all([resume(json.run_id), resume(json.run_id)])
    expect(both.map(({ status, json }) => [status, json.content])).toEqual(Array(2).fill([200, 'It is gone.']))
    expect(wiped).toEqual(['sda'])
    expect(await resume(json.run_id)).toMatchObject({ status: 200, json: { content: 'It is gone.' } })
    expect((await resume('run_none')).status).toBe(404)
  })

  it('is resumed by one of two that send different answers at the same time; the other gets 409', async () => {
    const { json } = await start()
    const both = await Promise.all([resume(json.run_id), resume(json.run_id, { approved: false })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(wiped).toEqual(both[0].status === 200 ? ['sda'] : [])
    const refused = both[0].status === 200 ? { approved: false } : { approved: true }
    expect(await resume(json.run_id, refused)).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } })
  })

  it('can be cancelled while it waits', async () => {
    const { json } = await start()
    const cancelled = await server.call('POST', `/api/v1/runs/${json.run_id}/cancel`, { reason: 'never mind' })
    expect(cancelled).toMatchObject({ status: 200, json: { status: 'cancelled', cancellation_reason: 'never mind' } })
    expect((await resume(json.run_id)).status).toBe(409)
    expect((await server.call('POST', `/api/v1/runs/${json.run_id}/cancel`)).status).toBe(409)
    expect((await events(json.run_id)).at(-1)).toMatchObject({ type: 'run_end', status: 'cancelled' })
    expect(wiped).toEqual([])
  })

  it('leaves its session to others while it waits, and waits while they are at work', async () => {
    const { json } = await start()
    const session_id = json.session_id
    const said = await server.call('POST', '/api/v1/agents/other/run', { input: 'meanwhile', session_id })
    expect(said).toMatchObject({ status: 200, json: { content: 'other' } })
    const busy = await server.call('POST', '/api/v1/agents/waiting/run', { input: 'x', session_id, background: true })
    const refused = await resume(json.run_id)
    expect(refused).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } })
    slow.resolve()
    await events(busy.json.run_id)
    expect((await resume(json.run_id)).json.status).toBe('completed')
  })

  it('streams from where it goes on when asked to, and goes on in the background as it was started', async () => {
    const { json } = await start()
    const streamed = await resume(json.run_id, { approved: true, stream: true })
    expect(streamed.headers.get('x-run-id')).toBe(json.run_id)
    expect(frames(streamed.text)[0]).toMatchObject({ type: 'run_resumed' })
    expect(frames(streamed.text).at(-1)).toMatchObject({ type: 'run_end', status: 'completed' })

    agentUnderTest.restart()
    const background = await start({ background: true })
    await events(background.json.run_id)
    expect(await resume(background.json.run_id)).toMatchObject({
      status: 202,
      json: { run_id: background.json.run_id },
    })
    expect((await events(background.json.run_id)).at(-1)).toMatchObject({ status: 'completed' })
  })

  it('shows what it goes on from to those who ask for prompts', async () => {
    const { json } = await start()
    const asked = (await events(json.run_id, '?include=prompts')).find(({ type }) => type === 'input_required')
    expect(JSON.stringify(asked?.messages)).toContain('tool-approval-request')
  })

  it('is a failed task over A2A that says how to go on', async () => {
    const body = {
      jsonrpc: '2.0',
      method: 'sendMessage',
      id: '1',
      params: {
        message: {
          messageId: crypto.randomUUID(),
          role: 'user',
          agentId: 'careful',
          parts: [{ type: 'text', content: 'x' }],
        },
      },
    }
    const { json } = await server.call('POST', '/api/v1/a2a/sendMessage', body)
    const { task } = json.result
    expect(task.status).toBe('failed')
    expect(task.messages.at(-1).parts[0].content).toContain(`/runs/${task.taskId}/resume`)
    expect((await resume(task.taskId)).json).toMatchObject({ status: 'completed' })
  })
})

describe("an agent's own `run`", () => {
  it('may ask for input, and is given it', async () => {
    const asking = agent({
      async *run({ resumed }) {
        if (resumed === undefined) yield { type: 'input_required', prompt: 'Your name?', schema: { type: 'string' } }
        else yield `Hello ${String(resumed.input)}`
      },
    })
    server.server.registerAgent('asking', asking)
    const { json } = await server.call('POST', '/api/v1/agents/asking/run', { input: 'Hi' })
    expect((await resume(json.run_id, {})).json.error.details).toMatchObject([{ path: 'input' }])
    expect((await resume(json.run_id, { input: 'Ada' })).json.content).toBe('Hello Ada')
  })
})
