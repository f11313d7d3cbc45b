import { validateUIMessages } from 'ai'
import { describe, expect, test } from 'vitest'
import { at, seedOf, startOf } from '../../contract/session-store/builders.ts'
import { openChats, userMessage } from './support.ts'

describe('POST /chat/{agent}', () => {
  test('streams the answer of a run as one message, and the reload has the same', async () => {
    const chats = await openChats()
    const { status, headers, text, chunks } = await chats.post('echo', {
      id: 'c1',
      messages: [userMessage('u1', 'hello you')],
    })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-session-id': 'c1',
    })
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    const messageId = headers['x-run-id']?.replace('run_', 'msg_')
    const metadata = { runId: headers['x-run-id'], sessionId: 'c1', agentId: 'echo', createdAt: expect.any(String) }
    const end = { status: 'completed', cacheHit: false, completedAt: expect.any(String) }
    expect(chunks).toEqual([
      { type: 'start', messageId, messageMetadata: metadata },
      { type: 'start-step' },
      { type: 'text-start', id: 't2' },
      { type: 'text-delta', id: 't2', delta: 'hello ' },
      { type: 'text-delta', id: 't2', delta: 'you' },
      { type: 'text-end', id: 't2' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop', messageMetadata: end },
    ])
    expect(await chats.reload('echo', 'c1')).toEqual({
      id: 'c1',
      messages: [
        { id: 'u1', role: 'user', metadata: expect.anything(), parts: [{ type: 'text', text: 'hello you' }] },
        {
          id: messageId,
          role: 'assistant',
          metadata: { ...metadata, ...end },
          parts: [{ type: 'step-start' }, { type: 'text', text: 'hello you', state: 'done' }],
        },
      ],
      activeRunId: null,
      has_more: false,
    })
  })

  test('joins the run of a message that comes twice, at the same time and later', async () => {
    const chats = await openChats()
    const body = { id: 'c1', message: userMessage('u1', 'wait') }
    const both = [chats.open('gated', body), chats.open('gated', body)]
    const [first, second] = await Promise.all(both)
    expect(second?.headers['x-run-id']).toBe(first?.headers['x-run-id'])
    chats.gate.open(0)
    expect(await first?.text()).toBe(await second?.text())
    const later = await chats.post('gated', body)
    expect(later.chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    expect(later.headers['x-run-id']).toBe(first?.headers['x-run-id'])
    const other = await chats.post('gated', { ...body, message: userMessage('u1', 'something else') })
    expect([other.status, other.headers['x-error-code']]).toEqual([422, 'idempotency_mismatch'])
  })

  test('a new message takes the place of an answer that is under way', async () => {
    const chats = await openChats()
    const first = await chats.open('gated', { id: 'c1', message: userMessage('u1', 'one') })
    const { signal } = await chats.gate.begun(0)
    const second = chats.open('gated', { id: 'c1', message: userMessage('u2', 'two') })
    await expect.poll(() => signal.aborted).toBe(true)
    chats.gate.open(0)
    chats.gate.open(1)
    expect(await first.text()).toContain('data: {"type":"abort","reason":"superseded"}\n\ndata: [DONE]')
    expect(await (await second).text()).toContain('"finishReason":"stop"')
  })

  test('regenerating and editing replace the turn, in the stream and in the reload', async () => {
    const chats = await openChats()
    const post = (id: string, text: string, more: object = {}) =>
      chats.post('echo', { id: 'c1', messages: [userMessage(id, text)], ...more })
    await post('u1', 'one')
    await post('u2', 'two')
    const again = await post('u2', 'two', { trigger: 'regenerate-message' })
    const { messages } = await chats.reload('echo', 'c1')
    expect(messages.map(({ id }: { id: string }) => id)).toEqual([
      'u1',
      expect.any(String),
      'u2',
      again.chunks[0]?.messageId,
    ])
    const same = await post('u1', 'one', { messageId: 'u1' })
    expect(same.chunks[0]?.messageId).toBe(messages[1].id)
    const edited = await post('u1', 'three', { messageId: 'u1' })
    const after = await chats.reload('echo', 'c1')
    expect(after.messages.map(({ id }: { id: string }) => id)).toEqual(['u1', edited.chunks[0]?.messageId])
    expect(after.messages[0].parts).toEqual([{ type: 'text', text: 'three' }])
  })

  test('a message that is sent again after its run failed gets another answer', async () => {
    const chats = await openChats()
    const body = { id: 'c1', messages: [userMessage('u1', 'go')], messageId: 'u1' }
    const [first, second] = [await chats.post('failing', body), await chats.post('failing', body)]
    expect(first.chunks.at(-1)).toEqual({
      type: 'error',
      errorText: expect.stringContaining('The agent threw an error'),
    })
    expect(second.headers['x-run-id']).not.toBe(first.headers['x-run-id'])
  })
})

describe('GET /chat/{agent}/{chat_id}/stream, and stop', () => {
  test('a reader that comes later gets the answer from its beginning, and 204 once there is none', async () => {
    const chats = await openChats()
    expect((await chats.call('GET', '/chat/gated/never-seen/stream')).status).toBe(204)
    const first = await chats.open('gated', { id: 'c1', message: userMessage('u1', 'go') })
    await chats.gate.begun(0)
    const { activeRunId, messages } = await chats.reload('gated', 'c1')
    expect([activeRunId, messages.length]).toEqual([first.headers['x-run-id'], 1])
    const second = await chats.follow('gated', 'c1')
    chats.gate.open(0)
    expect(await second.text()).toBe(await first.text())
    expect((await chats.call('GET', '/chat/gated/c1/stream')).status).toBe(204)
  })

  test('an answer that ends while the messages are read is in them, and no longer under way', async () => {
    const chats = await openChats()
    const first = await chats.open('gated', { id: 'c1', message: userMessage('u1', 'go') })
    await chats.gate.begun(0)
    const { sessions } = chats.services
    const history = sessions.history.bind(sessions)
    sessions.history = async (...given) => {
      chats.gate.open(0)
      await first.text()
      return history(...given)
    }
    const { activeRunId, messages } = await chats.reload('gated', 'c1')
    expect([activeRunId, messages.length]).toEqual([null, 2])
  })

  test('an answer that begins while the messages are read is under way', async () => {
    const chats = await openChats()
    const { sessions } = chats.services
    await sessions.create({ session_id: 'c1' })
    const history = sessions.history.bind(sessions)
    let isFirst = true
    sessions.history = async (...given) => {
      if (isFirst) {
        isFirst = false
        await chats.open('gated', { id: 'c1', message: userMessage('u1', 'go') })
        await chats.gate.begun(0)
      }
      return history(...given)
    }
    const { activeRunId, messages } = await chats.reload('gated', 'c1')
    expect([activeRunId, messages.length]).toEqual([expect.stringMatching(/^run_/), 1])
    chats.gate.open(0)
  })

  test('stop ends the run, and only the one that is meant', async () => {
    const chats = await openChats()
    const reader = await chats.open('gated', { id: 'c1', message: userMessage('u1', 'go') })
    const { signal } = await chats.gate.begun(0)
    const stop = (body?: object) => chats.call('POST', '/chat/gated/c1/stop', body)
    expect((await stop({ activeStreamId: 'run_other' })).body).toEqual({ success: true })
    expect((await chats.reload('gated', 'c1')).activeRunId).not.toBeNull()
    const stopped = stop({ activeStreamId: reader.headers['x-run-id'] })
    await expect.poll(() => signal.aborted).toBe(true)
    chats.gate.open(0)
    expect((await stopped).body).toEqual({ success: true })
    expect(await reader.text()).toContain('{"type":"abort","reason":"requested"}')
    expect((await stop()).body).toEqual({ success: true })
    const [, answer] = (await chats.reload('gated', 'c1')).messages
    expect([answer.metadata.status, answer.parts]).toEqual([
      'cancelled',
      [{ type: 'step-start' }, { type: 'text', text: 'a', state: 'done' }],
    ])
  })

  test('a run whose page leaves goes on, unless the page asks for its end', async () => {
    const chats = await openChats()
    for (const [index, cancel] of [false, true].entries()) {
      const leaving = new AbortController()
      const body = {
        id: `c${index}`,
        message: userMessage('u1', 'go'),
        ...(cancel && { agentserve: { on_disconnect: 'cancel' } }),
      }
      const { headers } = await chats.open('gated', body, leaving.signal)
      const context = await chats.gate.begun(index)
      leaving.abort()
      if (cancel) await expect.poll(() => context.signal.aborted).toBe(true)
      chats.gate.open(index)
      const status = async () => (await chats.call('GET', `/runs/${headers['x-run-id']}`)).body.status
      await expect.poll(status).toBe(cancel ? 'cancelled' : 'completed')
    }
  })
})

describe('after a process that died', () => {
  test('an answer that had not begun is shown as interrupted, and the clients accept it', async () => {
    const chats = await openChats()
    const start = startOf({
      run: { session_id: 'c1', entity_id: 'echo', status: 'running' },
      session: seedOf({ session_id: 'c1' }),
      owner: 'dead',
      text: 'hello',
    })
    await chats.store.startRun(start)
    await chats.store.recover('next', at(9))
    const { messages, activeRunId } = await chats.reload('echo', 'c1')
    expect(activeRunId).toBeNull()
    expect(messages).toMatchObject([
      { role: 'user', parts: [{ type: 'text', text: 'hello' }] },
      {
        id: start.run.run_id.replace('run_', 'msg_'),
        role: 'assistant',
        metadata: { runId: start.run.run_id, status: 'interrupted' },
        parts: [{ type: 'step-start' }],
      },
    ])
    expect(messages).toHaveLength(2)
    expect(await validateUIMessages({ messages })).toHaveLength(2)
  })
})
