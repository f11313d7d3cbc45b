import { expect, test } from 'vitest'
import { toResult } from '../../src/mcp/answer.ts'
import type { McpRun } from '../../src/mcp/port.ts'

test('a question with more data than a host can take is told without it, and says so', () => {
  const waiting = (data: string) => [
    { kind: 'approval' as const, call_id: 'c1', prompt: `May I? ${data}`, data: { text: data } },
  ]
  const run = (data: string): McpRun => ({
    run_id: 'run_1',
    session_id: 'ses_1',
    status: 'input_required',
    messages: [],
    usage: null,
    waiting: waiting(data),
    error: null,
    cancellation_reason: null,
    sources: [],
  })
  const small = toResult(run('x'), false)
  expect(small.structuredContent).toMatchObject({ asks: [{ call_id: 'c1', prompt: 'May I? x', data: { text: 'x' } }] })
  expect(small.structuredContent).not.toHaveProperty('cut')
  const large = toResult(run('x'.repeat(1_000_000)), false)
  expect(large.structuredContent).toMatchObject({ cut: true, asks: [{ call_id: 'c1' }] })
  expect(JSON.stringify(large).length).toBeLessThan(700_000)
  expect(JSON.stringify(large)).toContain('runs resume run_1 --approve')
})
