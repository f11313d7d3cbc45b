import { Output } from 'ai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { agent } from '../../../src/runnables/agent/agent.ts'
import { eventsOf, serveAgents, typesOf } from '../agent-server.ts'
import { answer, scripted } from '../fixture.ts'

function noPasswords({ text }: { text: string }) {
  return text.includes('password') ? { refuse: 'I do not talk about passwords.' } : undefined
}
const untouched = scripted()
const gate = Promise.withResolvers<void>()
const seen: unknown[] = []

let server: Awaited<ReturnType<typeof serveAgents>>
beforeAll(async () => {
  server = await serveAgents({
    input: agent({ model: untouched, guardrails: { input: noPasswords } }),
    output: agent({
      model: scripted(answer('The pass', 'word is ', 'x'), answer('All ', 'fine')),
      guardrails: { output: [noPasswords] },
    }),
    slow: agent({
      model: scripted(answer('One ', 'two')),
      guardrails: { output: () => gate.promise },
    }),
    order: agent({
      model: scripted(answer('ok')),
      guardrails: {
        input: [
          async ({ text, sessionId, userId }) => {
            seen.push(['first', text, sessionId.slice(0, 4), userId])
          },
          ({ state }) => {
            seen.push('second')
            state.checked = true
          },
        ],
        output: [
          ({ text }) => {
            seen.push(['third', text])
          },
        ],
      },
    }),
    data: agent({
      model: scripted(answer('{"age":-1}')),
      output: Output.object({ schema: z.object({ age: z.number() }) }),
      guardrails: {
        output: ({ data }) => (data !== undefined && data.age < 0 ? { refuse: 'No such age.' } : undefined),
      },
    }),
    own: agent({ run: () => 'my password', guardrails: { output: noPasswords } }),
    offline: agent({ guardrails: { input: noPasswords } }),
    broken: agent({
      model: scripted(answer('secret')),
      guardrails: {
        output: () => {
          throw new Error('the list is gone')
        },
      },
    }),
    wrong: agent({ model: scripted(), guardrails: { input: (() => 'no') as never } }),
  })
})
afterAll(() => server.close())

test('an input that is refused never reaches the model, and the reason is the answer', async () => {
  const { json, runId } = await server.ask('input', 'What is the password?')
  expect(json).toMatchObject({ status: 'completed', content: 'I do not talk about passwords.', usage: null })
  expect(untouched.doStreamCalls).toHaveLength(0)
  const events = await server.events(runId)
  expect(typesOf(events)).toEqual(['run_start', 'step_start', 'step_end', 'text_delta', 'run_end'])
  expect(eventsOf(events, 'step_start')[0]?.name).toBe('input guardrail noPasswords')
  expect(eventsOf(events, 'step_end')[0]).toMatchObject({
    status: 'failed',
    error: { message: 'I do not talk about passwords.' },
  })
})

test('an output that is refused is nowhere, in the stream, the record and the next prompt', async () => {
  const { streamed, text, runId } = await server.ask('output', 'Tell me', { stream: true })
  expect(text).not.toContain('word is')
  expect(eventsOf(streamed, 'text_delta').map((event) => event.text)).toEqual(['I do not talk about passwords.'])
  const events = await server.events(runId)
  expect(JSON.stringify(events)).not.toContain('word is')
  expect(eventsOf(events, 'model_call_end')[0]?.usage).toMatchObject({ total_tokens: 10 })
  const again = await server.ask('output', 'And now?', { stream: true })
  expect(eventsOf(again.streamed, 'text_delta').map((event) => event.text)).toEqual(['All ', 'fine'])
})

test('nothing of the answer leaves before it is checked', async () => {
  const response = await fetch(`${server.url}/api/v1/agents/slow/run/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ input: 'x' }),
  })
  let text = ''
  let opened = false
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += new TextDecoder().decode(piece)
    if (!opened && text.includes('output guardrail')) {
      expect(text).not.toContain('text_delta')
      opened = true
      gate.resolve()
    }
  }
  expect(opened).toBe(true)
  expect(text.match(/event: text_delta/g)).toHaveLength(2)
})

test('checks run one after the other and see the run', async () => {
  const { json } = await server.ask('order', 'Hi', { user_id: 'u1' })
  expect(json.content).toBe('ok')
  expect(seen).toEqual([['first', 'Hi', 'ses_', 'u1'], 'second', ['third', 'ok']])
  expect((await server.call('GET', `/api/v1/sessions/${json.session_id}`)).json.state).toEqual({ checked: true })
})

test('data, an own run and the offline answer are checked too', async () => {
  expect((await server.ask('data', 'x')).json.messages.at(-1).parts).toEqual([{ type: 'text', text: 'No such age.' }])
  expect((await server.ask('own', 'x')).json.content).toBe('I do not talk about passwords.')
  expect((await server.ask('offline', 'password?')).json.content).toBe('I do not talk about passwords.')
})

test('a check that throws fails the run, and lets nothing out', async () => {
  const { status, text, runId } = await server.ask('broken', 'x')
  expect(status).toBe(500)
  expect(text).not.toContain('secret')
  const events = await server.events(runId)
  expect(JSON.stringify(events)).not.toContain('"text":"secret"')
  expect(eventsOf(events, 'step_end')[0]).toMatchObject({ status: 'failed', error: { message: 'the list is gone' } })
  expect((await server.ask('wrong', 'x')).json.error.message).toContain("returned 'no'. Return nothing, or { refuse")
})

test('a refused input is a mark in the answer, its repeats, the history and the export', async () => {
  const body = { input: 'my password is hunter2unmistakable' }
  const mark = [{ type: 'data', data: { refused: true } }]
  const path = '/api/v1/agents/input/run'
  const ask = () => server.call('POST', path, body, { 'Idempotency-Key': 'refused-once' })
  const first = await ask()
  expect(first.json).toMatchObject({ status: 'completed', messages: [{ role: 'user', parts: mark }, {}] })
  const { run_id, session_id } = first.json
  const again = await ask()
  expect(again.json).toMatchObject({ run_id, messages: [{ role: 'user', parts: mark }, {}] })
  const texts = [
    first.text,
    again.text,
    ...(await Promise.all(
      [
        `/api/v1/runs/${run_id}`,
        `/api/v1/runs/${run_id}/events?include=prompts`,
        `/api/v1/sessions/${session_id}`,
        `/api/v1/sessions/${session_id}/history?stream_events=true`,
        `/api/v1/sessions/${session_id}/export?include=events`,
        '/api/v1/messages?q=hunter2unmistakable',
      ].map(async (read) => (await server.call('GET', read)).text),
    )),
  ]
  for (const text of texts) expect(text).not.toContain('hunter2unmistakable')
  expect(texts.at(-2)).toContain('"refused":true')
})
