import { describe, expect, expectTypeOf, test } from 'vitest'
import { endEvent, isFinalEvent, type RunEventBody, startEvent } from '../../src/core/event.ts'
import type { Run } from '../../src/core/run.ts'
import type { RunEvent } from '../../src/wire/event.ts'

const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
const row: Run = {
  run_id: 'run_1',
  session_id: 'ses_1',
  parent_run_id: null,
  entity_id: 'echo',
  entity_kind: 'agent',
  status: 'completed',
  created_at: '2026-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:01.000Z',
  completed_at: '2026-01-01T00:00:02.000Z',
  cancellation_reason: null,
  error: null,
  cache_hit: false,
  usage,
  waiting: [],
  replaced_by: null,
  again_of: null,
}
const stamp = { run_id: 'run_1', seq: 7, at: row.completed_at }

test('each type of event has a schema in src/wire/event.ts', () => {
  expectTypeOf<RunEvent['type']>().toEqualTypeOf<RunEventBody['type']>()
})

describe('the first event of a run', () => {
  test('has number 1 and the time at which the run began', () => {
    expect(startEvent(row)).toEqual({
      type: 'run_start',
      run_id: 'run_1',
      seq: 1,
      at: row.started_at,
      session_id: 'ses_1',
      entity_id: 'echo',
      entity_kind: 'agent',
    })
  })

  test('has the time of its creation while it waits', () => {
    expect(startEvent({ ...row, status: 'queued', started_at: null }).at).toBe(row.created_at)
  })
})

describe('the last event of a run', () => {
  test('says how the run ended and what it used', () => {
    expect(endEvent(row, 7)).toEqual({ type: 'run_end', ...stamp, status: 'completed', usage, cache_hit: false })
  })

  test('says why the run was cancelled', () => {
    const cancelled = endEvent({ ...row, status: 'cancelled', cancellation_reason: 'shutdown' }, 7)
    expect(cancelled).toMatchObject({ type: 'run_end', status: 'cancelled', cancellation_reason: 'shutdown' })
  })

  test('is the error of a run that has one, whatever its status', () => {
    const error = { code: 'timeout', message: 'It took too long.' }
    expect(endEvent({ ...row, status: 'failed', error }, 7)).toEqual({ type: 'run_error', ...stamp, error })
    expect(endEvent({ ...row, error }, 7)).toEqual({ type: 'run_error', ...stamp, error })
  })

  test('is an error without details when the row of a failed run has none', () => {
    const error = { code: 'run_failed', message: 'The run failed.' }
    expect(endEvent({ ...row, status: 'failed' }, 7)).toEqual({ type: 'run_error', ...stamp, error })
  })

  test('has the time of creation when the row has no end', () => {
    expect(endEvent({ ...row, status: 'interrupted', completed_at: null }, 7).at).toBe(row.created_at)
  })

  test('is the only one that ends a stream', () => {
    expect([endEvent(row, 7), endEvent({ ...row, status: 'failed' }, 7)].every(isFinalEvent)).toBe(true)
    expect(isFinalEvent(startEvent(row))).toBe(false)
    expect(isFinalEvent({ type: 'run_resumed', from: 'input_required' })).toBe(false)
  })
})
