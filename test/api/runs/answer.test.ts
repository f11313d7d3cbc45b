import { describe, expect, it } from 'vitest'
import { toRunAnswer, toRunDetail } from '../../../src/api/runs/answer.ts'
import { AppError } from '../../../src/core/error.ts'
import type { Message, Role } from '../../../src/core/message.ts'
import type { RunRecord } from '../../../src/core/run.ts'
import { createCosts } from '../../../src/models/prices/costs.ts'

const message = (role: Role, content: string): Message => ({
  message_id: `msg_${content}`,
  run_id: 'run_1',
  role,
  parts: [{ type: 'text', text: content }],
  content,
  created_at: '2026-01-01T00:00:00.000Z',
})

const record = (change: Partial<RunRecord>): RunRecord => ({
  run_id: 'run_1',
  session_id: 'ses_1',
  parent_run_id: null,
  entity_id: 'echo',
  entity_kind: 'agent',
  status: 'completed',
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:00.000Z',
  completed_at: '2026-01-01T00:00:01.000Z',
  cancellation_reason: null,
  error: null,
  cache_hit: false,
  usage: null,
  user_id: null,
  metadata: null,
  background: false,
  timeout_ms: null,
  truncated: false,
  end_seq: 3,
  messages: [message('user', 'q'), message('assistant', 'a'), message('assistant', 'b')],
  sources: [],
  waiting: [],
  replaced_by: null,
  again_of: null,
  given: null,
  ...change,
})

function failure(change: Partial<RunRecord>): AppError {
  try {
    toRunAnswer(record(change), 30_000, costs)
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error('it was answered')
}

const costs = createCosts({})

describe('toRunAnswer', () => {
  it.each(['completed', 'input_required'] as const)(
    'answers a run that is %s with what the assistant said',
    (status) => {
      expect(toRunAnswer(record({ status }), 30_000, costs)).toMatchObject({ status, agent_id: 'echo', content: 'ab' })
    },
  )

  it('says of each source whether the answer cites it, not whether the question does', () => {
    const source = { type: 'source', source: 'a.md', document_id: 'd', chunk_id: 'c' } as const
    const sources = [1, 2, 3].map((index) => ({ ...source, index }))
    const messages = [message('user', 'What of [1]?'), message('assistant', 'a [3'), message('assistant', ', 2]')]
    const { content, sources: shown } = toRunDetail(record({ messages, sources }), costs)
    expect(content).toBe('a [3, 2]')
    expect(shown).toEqual([1, 2, 3].map((index) => ({ ...source, index, cited: index > 1 })))
  })

  it('has the last data part as content when no message has text', () => {
    const data = (value: number): Message => ({
      ...message('assistant', `{"n":${value}}`),
      parts: [{ type: 'data', data: { n: value } }],
    })
    expect(toRunDetail(record({ messages: [data(1), data(2)] }), costs).content).toBe('{"n":2}')
    expect(toRunDetail(record({ messages: [data(1), message('assistant', 'said')] }), costs).content).toBe('said')
  })

  it.each([
    [{ status: 'failed', error: { code: 'run_failed', message: 'no model' } }, 'run_failed', 'no model'],
    [{ status: 'interrupted' }, 'run_interrupted', 'interrupted'],
    [{ status: 'cancelled', cancellation_reason: 'timeout' }, 'timeout', 'requestTimeout (30000 ms)'],
    [{ status: 'cancelled', cancellation_reason: 'superseded' }, 'run_cancelled', 'superseded'],
  ] as const)('throws what became of %j, with its ids', (change, code, words) => {
    const error = failure(change)
    expect(error).toMatchObject({ code, runId: 'run_1', sessionId: 'ses_1' })
    expect(error.message).toContain(words)
  })
})

it('shows a cancelled run with its reason and what it had said', () => {
  const detail = toRunDetail(record({ status: 'cancelled', cancellation_reason: 'requested', truncated: true }), costs)
  expect(detail).toMatchObject({
    content: 'ab',
    cancellation_reason: 'requested',
    truncated: true,
    entity_kind: 'agent',
  })
})
