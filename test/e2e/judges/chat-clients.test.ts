import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadAi, openChat, outlineOf, textOf, versions } from '../../judges/chat.ts'
import { openScriptedServer, type Script } from '../../support/scripted-server.ts'

/*
 * What the published clients do with frames that the server sends, and with those that it must not send: why
 * src/protocols/chat is as it is.
 */

type Chunk = Record<string, unknown>

function stream(response: ServerResponse, chunks: readonly Chunk[], between = ''): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const frames = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n${between}`)
  response.end(`${frames.join('')}data: [DONE]\n\n`)
}

async function serve(script: Script) {
  const server = await openScriptedServer(script)
  onTestFinished(() => server.close())
  return {
    ...server,
    api: `${server.url}/api/v1/chat/docs`,
    posted: (index: number) => JSON.parse(server.seen[index]?.body ?? ''),
  }
}

const start = { type: 'start', messageId: 'msg_1', messageMetadata: { runId: 'run_1', agentId: 'docs' } }
const finish = { type: 'finish', finishReason: 'stop', messageMetadata: { usage: { totalTokens: 3 } } }
const text = (id: string, ...deltas: string[]) => [
  { type: 'text-start', id },
  ...deltas.map((delta) => ({ type: 'text-delta', id, delta })),
  { type: 'text-end', id },
]
const source = {
  type: 'source-document',
  sourceId: 'chk_1',
  mediaType: 'text/markdown',
  title: 'docs/a.md:10-20',
  filename: 'a.md',
  providerMetadata: { agentserve: { index: 1, document_id: 'doc_1', source: 'docs/a.md' } },
}
const call = { type: 'tool-input-available', toolCallId: 'call_1', toolName: 'weather', input: { city: 'Ghent' } }
const wholeRun = [
  start,
  { type: 'data-retrieval', data: { query: 'q', results: [] }, transient: true },
  { type: 'start-step' },
  source,
  { type: 'reasoning-start', id: 'r7' },
  { type: 'reasoning-delta', id: 'r7', delta: 'Hm.' },
  { type: 'reasoning-end', id: 'r7' },
  call,
  { type: 'tool-output-available', toolCallId: 'call_1', output: { c: 9 } },
  { type: 'finish-step' },
  { type: 'start-step' },
  ...text('t21', 'It is ', '9.'),
  { type: 'data-output', id: 'd30', data: { c: 9 } },
  { type: 'data-step', id: 's1', data: { name: 'research', status: 'running' } },
  { type: 'data-step', id: 's1', data: { name: 'research', status: 'completed' } },
  { type: 'finish-step' },
  finish,
]
const wholeMessage = [
  'step-start',
  'source-document',
  'reasoning:done',
  'tool-weather:output-available',
  'step-start',
  'text:done',
  'data-output',
  'data-step',
]

describe.each(versions)('useChat of ai %i', (version) => {
  test('reads a whole run, with comments between its frames', async () => {
    const { api, posted } = await serve((_, response) => stream(response, wholeRun, ': hb\n\n'))
    const seen: string[] = []
    const chat = await openChat(version, { api, id: 'chat-1', onData: ({ type }) => void seen.push(type) })
    await chat.sendMessage({ text: 'How warm is it?' })
    expect(chat).toMatchObject({ status: 'ready', error: undefined })
    expect(outlineOf(chat.lastMessage)).toEqual(wholeMessage)
    expect(chat.lastMessage).toMatchObject({ id: 'msg_1', metadata: { runId: 'run_1', usage: { totalTokens: 3 } } })
    expect(textOf(chat.lastMessage)).toBe('It is 9.')
    expect(seen).toEqual(['data-retrieval', 'data-output', 'data-step', 'data-step'])
    expect(posted(0)).toEqual({
      id: 'chat-1',
      messages: [{ id: chat.messages[0]?.id, role: 'user', parts: [{ type: 'text', text: 'How warm is it?' }] }],
      trigger: 'submit-message',
    })
  })

  test('says what it wants when it regenerates and when it edits', async () => {
    const { api, posted } = await serve((_, response) => stream(response, [start, ...text('t1', 'A.'), finish]))
    const chat = await openChat(version, { api })
    await chat.sendMessage({ text: 'One' })
    await chat.regenerate()
    expect(posted(1)).toMatchObject({ trigger: 'regenerate-message', messages: [{ role: 'user' }] })
    expect(posted(1)).not.toHaveProperty('messageId')
    const [{ id: messageId = '' } = {}] = chat.messages
    await chat.sendMessage({ text: 'Two', messageId })
    expect(posted(2)).toMatchObject({ trigger: 'submit-message', messageId })
    expect(posted(2).messages).toEqual([{ id: messageId, role: 'user', parts: [{ type: 'text', text: 'Two' }] }])
  })

  test('loses the rest of a stream after a frame that it does not know', async () => {
    const foreign = [{ type: 'agentserve-step' }, { type: 'text-delta', id: 'never-started', delta: 'x' }]
    const reasons = version === 5 ? ['interrupted'] : version === 6 ? ['interrupted', 'unknown'] : ['unknown']
    const unknown: Chunk[] = [...foreign, ...reasons.map((finishReason) => ({ type: 'finish', finishReason }))]
    if (version < 7) unknown.push({ type: 'tool-approval-response', approvalId: 'call_1', approved: true })
    if (version < 6) unknown.push({ type: 'tool-approval-request', approvalId: 'call_1', toolCallId: 'call_1' })
    if (version < 6) unknown.push({ type: 'tool-output-denied', toolCallId: 'call_1' })
    for (const chunk of unknown) {
      const before = [start, { type: 'start-step' }, ...text('t1', 'Before.')]
      const { api } = await serve((_, response) => stream(response, [...before, chunk, ...text('t2', 'After.')]))
      const chat = await openChat(version, { api })
      await chat.sendMessage({ text: 'Hi' })
      expect([chat.status, textOf(chat.lastMessage)], JSON.stringify(chunk)).toEqual(['error', 'Before.'])
    }
  })

  test('keeps what it has when the run is cancelled or fails', async () => {
    const ends: Chunk[] = [
      { type: 'abort', reason: 'requested' },
      { type: 'error', errorText: 'The model is gone.' },
    ]
    const { api } = await serve((_, response, index) => {
      const own = { type: 'start', messageId: `msg_${index}` }
      stream(response, [own, { type: 'start-step' }, ...text('t1', `Half ${index}`), ends[index] ?? {}])
    })
    const chat = await openChat(version, { api })
    await chat.sendMessage({ text: 'Hi' })
    expect([chat.status, textOf(chat.lastMessage)]).toEqual(['ready', 'Half 0'])
    await chat.sendMessage({ text: 'Again' })
    expect([chat.status, chat.error?.message]).toEqual(['error', 'The model is gone.'])
    expect(textOf(chat.lastMessage)).toBe('Half 1')
  })

  test('shows the body of a refusal as it is, and takes 204 for nothing to resume', async () => {
    const { api, seen } = await serve(({ url, method }, response) => {
      const status = method === 'POST' ? 409 : url.includes('fresh') ? 204 : 404
      response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 204 ? '' : 'It is busy.')
    })
    const chat = await openChat(version, { api, id: 'fresh one' })
    await chat.resumeStream()
    expect(chat.status).toBe('ready')
    expect(seen[0]?.url).toBe('/api/v1/chat/docs/fresh%20one/stream')
    await chat.sendMessage({ text: 'Hi' })
    expect([chat.status, chat.error?.message]).toEqual(['error', 'It is busy.'])
    const other = await openChat(version, { api, id: 'gone' })
    await other.resumeStream()
    expect([other.status, other.error?.message]).toEqual(['error', 'It is busy.'])
  })

  test('builds the message again when it resumes, beside earlier ones', async () => {
    const { api } = await serve((_, response) => stream(response, wholeRun))
    const user = { id: 'u1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }
    const earlier = { id: 'msg_0', role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Hello.' }] }
    const again = { ...user, id: 'u2' }
    const chat = await openChat(version, { api, id: 'c', messages: [user, earlier, again] })
    await chat.resumeStream()
    expect(chat.messages).toHaveLength(4)
    expect(chat.messages[1]).toEqual(earlier)
    await chat.resumeStream()
    expect(chat.messages).toHaveLength(4)
    expect(outlineOf(chat.messages[3])).toEqual(wholeMessage)
  })

  test('sends the output of a client tool, and does not send again for finished server tools', async () => {
    const { lastAssistantMessageIsCompleteWithToolCalls: sendAutomaticallyWhen } = await loadAi(version)
    const pick = { type: 'tool-input-available', toolCallId: 'c_1', toolName: 'pick', input: { of: 2 } }
    const { api, seen, posted } = await serve((_, response, index) =>
      index === 0
        ? stream(response, [start, { type: 'start-step' }, pick, { type: 'finish-step' }, { type: 'finish' }])
        : stream(response, [
            { type: 'start', messageId: 'msg_1' },
            { type: 'start-step' },
            call,
            { type: 'tool-output-available', toolCallId: 'call_1', output: null },
            { type: 'finish-step' },
            { type: 'start-step' },
            ...text('t9', 'Done.'),
            { type: 'finish-step' },
            finish,
          ]),
    )
    const chat = await openChat(version, { api, sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Pick' })
    await chat.addToolOutput({ tool: 'pick', toolCallId: 'c_1', output: 'the second' })
    await expect.poll(() => textOf(chat.lastMessage)).toBe('Done.')
    await expect.poll(() => chat.status).toBe('ready')
    expect(seen).toHaveLength(2)
    expect(posted(1).messages.at(-1).parts).toContainEqual(
      expect.objectContaining({ type: 'tool-pick', state: 'output-available', output: 'the second' }),
    )
    expect(outlineOf(chat.lastMessage)).toEqual([
      'step-start',
      'tool-pick:output-available',
      'step-start',
      'tool-weather:output-available',
      'step-start',
      'text:done',
    ])
    expect(chat.messages).toHaveLength(2)
  })
})

describe.each([6, 7] as const)('approvals in useChat of ai %i', (version) => {
  const refund = { type: 'tool-input-available', toolCallId: 'c2', toolName: 'refund', input: { euros: 5 } }
  const asked = [
    start,
    { type: 'start-step' },
    refund,
    { type: 'tool-approval-request', approvalId: 'c2', toolCallId: 'c2' },
    { type: 'finish-step' },
    { type: 'finish', finishReason: 'tool-calls' },
  ]

  test.each([
    { approved: true, frame: { type: 'tool-output-available', toolCallId: 'c2', output: { ok: true } } },
    { approved: false, frame: { type: 'tool-output-denied', toolCallId: 'c2' } },
  ])('continue the same message: approved $approved', async ({ approved, frame }) => {
    const { lastAssistantMessageIsCompleteWithApprovalResponses: sendAutomaticallyWhen } = await loadAi(version)
    const next = [{ type: 'start', messageId: 'msg_1' }, frame, { type: 'start-step' }, ...text('t9', 'So be it.')]
    const { api, seen, posted } = await serve((_, response, index) =>
      stream(response, index === 0 ? asked : [...next, { type: 'finish-step' }, finish]),
    )
    const chat = await openChat(version, { api, sendAutomaticallyWhen })
    await chat.sendMessage({ text: 'Refund me' })
    expect(outlineOf(chat.lastMessage)).toEqual(['step-start', 'tool-refund:approval-requested'])
    await chat.addToolApprovalResponse({ id: 'c2', approved, reason: 'policy' })
    await expect.poll(() => textOf(chat.lastMessage)).toBe('So be it.')
    await expect.poll(() => chat.status).toBe('ready')
    expect(seen).toHaveLength(2)
    expect(posted(1)).toMatchObject({ trigger: 'submit-message', messageId: 'msg_1' })
    expect(posted(1).messages.at(-1).parts.at(-1)).toMatchObject({
      state: 'approval-responded',
      approval: { id: 'c2', approved, reason: 'policy' },
    })
    const state = approved ? 'output-available' : 'output-denied'
    expect(outlineOf(chat.lastMessage)).toEqual(['step-start', `tool-refund:${state}`, 'step-start', 'text:done'])
    expect(chat.messages).toHaveLength(2)
  })
})
