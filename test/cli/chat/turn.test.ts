import { describe, expect, it } from 'vitest'
import { runTurn } from '../../../src/cli/chat/turn/turn.ts'
import type { TurnEvent } from '../../../src/cli/runs/activity.ts'
import type { Client } from '../../../src/client/client.ts'
import { createClient } from '../../../src/client/create.ts'
import type { ClientRequest } from '../../../src/client/transport/transport.ts'
import type { RunEventBody } from '../../../src/core/event.ts'

interface Answers {
  a2a: object[]
  /** What the run recorded; absent for a server of the dialect that is not ours. */
  record?: RunEventBody[]
}

function clientOf({ a2a, record }: Answers): { client: Client; requests: ClientRequest[] } {
  const requests: ClientRequest[] = []
  const ids: Record<string, string> = record === undefined ? {} : { 'x-run-id': 'run_1', 'x-session-id': 'ses_1' }
  const client = createClient({
    async transport(request) {
      requests.push(request)
      const headers = { 'content-type': 'text/event-stream', ...ids }
      if (request.method === 'POST') return { status: 200, headers, body: frames(a2a) }
      const stamped = (record ?? []).map((event, index) => ({ ...event, run_id: 'run_1', seq: index + 1, at: '' }))
      return { status: 200, headers, body: frames(stamped) }
    },
  })
  return { client, requests }
}

async function* frames(events: object[]): AsyncGenerator<Uint8Array> {
  for (const event of events) yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`)
}

async function turn(answers: Answers, sessionId?: string, follow = false) {
  const { client, requests } = clientOf(answers)
  const { signal } = new AbortController()
  const events: TurnEvent[] = []
  const asked = { agentId: 'docs', message: 'hi', sessionId, follow, signal }
  for await (const event of runTurn(client, asked)) if (event.type !== 'started') events.push(event)
  return { events, requests }
}

const done = { type: 'done' }
const source = { type: 'source', index: 1, source: 'a.md', document_id: 'd', chunk_id: 'c', line_start: 3 } as const
const end: RunEventBody = { type: 'run_end', status: 'completed', usage: null, cache_hit: false }

describe('runTurn', () => {
  it('takes text from the A2A stream, then tools and sources from the record of the run', async () => {
    const { events, requests } = await turn({
      a2a: [{ type: 'content', content: 'Hello ' }, { type: 'content', content: 'you' }, done],
      record: [
        source,
        { type: 'text_delta', text: 'Hello you' },
        { type: 'tool_result', call_id: 'x', name: 'add', duration_ms: 1 },
        { type: 'tool_result', call_id: 'y', name: 'sub', error: { message: 'no\n' }, duration_ms: 1 },
        { type: 'input_required', prompt: 'Go on?' },
        end,
      ],
    })
    expect(events).toEqual([
      { type: 'text', text: 'Hello ' },
      { type: 'text', text: 'you' },
      { type: 'tool_result', callId: 'x', name: 'add', error: undefined, durationMs: 1 },
      { type: 'tool_result', callId: 'y', name: 'sub', error: 'no', durationMs: 1 },
      { type: 'question', question: expect.objectContaining({ prompt: 'Go on?', wants: 'input' }) },
      { type: 'source', source: expect.objectContaining(source) },
      {
        type: 'end',
        end: { sessionId: 'ses_1', runId: 'run_1', status: 'completed', usage: null, seq: 6 },
      },
    ])
    expect(requests.map(({ url }) => url)).toEqual(['/api/v1/a2a/streamMessage', '/api/v1/runs/run_1/events'])
  })

  it('names the sources that the answer cites before the others', async () => {
    const sources = [1, 2, 3].map((index) => ({ ...source, index, source: `${index}.md` }))
    const { events } = await turn({
      a2a: [{ type: 'content', content: 'Ten [3]. {"ids":[2]}' }, done],
      record: [...sources, { type: 'text_delta', text: 'Ten [3]. ' }, { type: 'data', data: { ids: [2] } }, end],
    })
    const named = events.flatMap((event) => (event.type === 'source' ? [event.source.index] : []))
    expect(named).toEqual([3, 1, 2])
  })

  it('is content with the text of a server that names no run, and goes on in the session it was given', async () => {
    const { events, requests } = await turn({ a2a: [{ type: 'content', content: 'x' }, done] }, 'mine')
    expect(events).toEqual([
      { type: 'text', text: 'x' },
      { type: 'end', end: { sessionId: 'mine', runId: undefined, status: undefined, usage: null, seq: 0 } },
    ])
    expect(requests).toHaveLength(1)
    expect(JSON.parse(String(requests[0]?.body)).params.message).toMatchObject({ agentId: 'docs', contextId: 'mine' })
  })

  it('passes on why a run failed', async () => {
    const { events } = await turn({ a2a: [{ type: 'error', code: -32603, message: 'the model\nis gone' }, done] })
    expect(events[0]).toEqual({ type: 'error', message: 'the model is gone' })
  })

  it('lets no answer control the terminal, sequences cut in two included', async () => {
    const { events } = await turn({
      a2a: [{ type: 'content', content: 'a\u001b]0;own' }, { type: 'content', content: 'ed\u0007b\u202e' }, done],
    })
    expect(events.map((event) => (event.type === 'text' ? event.text : ''))).toEqual(['a', 'b', ''])
  })

  it.each([0, 1, 2, 3])(
    'takes a stream that was cut after %i fragments up again from the record, and repeats nothing',
    async (kept) => {
      const fragments = ['One ', 'two ', 'three']
      const texts: RunEventBody[] = fragments.map((text) => ({ type: 'text_delta', text }))
      const tool: RunEventBody = { type: 'tool_result', call_id: 'x', name: 'add', duration_ms: 1 }
      const a2a = fragments.slice(0, kept).map((content) => ({ type: 'content', content }))
      const { events } = await turn({ a2a, record: [...texts.slice(0, 2), tool, ...texts.slice(2), end] }, 'mine', true)
      const shown = events.map((event) => (event.type === 'text' ? event.text : event.type)).join('')
      expect(shown.replace('tool_result', '')).toBe('One two threeend')
      expect(shown.match(/tool_result/g)).toHaveLength(1)
    },
  )

  it('gives a cut as an error where the run does not outlive it', async () => {
    const record = [{ type: 'text_delta', text: 'One' } as const, end]
    const cut = turn({ a2a: [{ type: 'content', content: 'One' }], record }, 'mine', false)
    await expect(cut).rejects.toMatchObject({ code: 'unavailable' })
  })
})
