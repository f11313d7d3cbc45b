import { expect, test } from 'vitest'
import { createId } from '../../../src/core/id.ts'
import type { HttpRequest } from '../../../src/http/request.ts'
import { callOf, wireCallId } from '../../../src/protocols/call-id.ts'
import { attemptOf } from '../../../src/protocols/openai/attempts.ts'
import { completionId, responseId, stretchOfResponse } from '../../../src/protocols/openai/ids.ts'
import { completionUsage, responseUsage } from '../../../src/protocols/openai/usage.ts'

const runId = createId('run')

test('the ids of responses name a stretch of a run', () => {
  for (const stretch of [1, 2, 17]) {
    expect(stretchOfResponse(responseId(runId, stretch))).toEqual({ runId, stretch })
  }
  expect(responseId(runId)).toBe(`resp_${runId.slice(4)}`)
  expect(completionId(runId)).toBe(`chatcmpl-${runId.slice(4)}`)
  expect(completionId(runId, 2)).not.toBe(completionId(runId))
  const foreign = ['', 'resp_1', `${responseId(runId)}_1`, `${responseId(runId)}_0`, `x${responseId(runId)}`, runId]
  for (const id of foreign) expect(stretchOfResponse(id)).toBeUndefined()
})

test('the ids of calls name the run, whatever the model called them', () => {
  for (const callId of ['call_1', 'a/b', 'run_child/t2', 'ü\n', '_']) {
    expect(callOf(wireCallId(runId, callId))).toEqual({ runId, callId })
  }
  for (const id of ['', 'call_1', `call_${runId.slice(4)}`, `call_${runId.slice(4)}_`])
    expect(callOf(id)).toBeUndefined()
})

test('usage has every count, as both dialects name them', () => {
  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8, cached_input_tokens: 2, reasoning_tokens: 1 }
  expect(completionUsage(usage)).toEqual({
    prompt_tokens: 5,
    completion_tokens: 3,
    total_tokens: 8,
    prompt_tokens_details: { cached_tokens: 2 },
    completion_tokens_details: { reasoning_tokens: 1 },
  })
  expect(responseUsage(usage)).toEqual({
    input_tokens: 5,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 8,
  })
  expect(completionUsage(null)).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })
  expect(responseUsage(null)).toMatchObject({ input_tokens: 0, output_tokens: 0, total_tokens: 0 })
})

function attempt(headers: Record<string, string>, body: unknown = { a: 1 }, more: Partial<HttpRequest> = {}) {
  const request = { path: '/v1/chat/completions', headers, caller: 'key-1', userId: undefined, ...more }
  return attemptOf(request as unknown as HttpRequest, 'chat', body, undefined)
}
const count = (n: string) => ({ 'x-stainless-retry-count': n })

test('attempts are the same request when the caller, body, session and end user are the same', () => {
  const first = attempt(count('0'))
  expect(first).toMatchObject({ attempt: 'first', whileRunning: 'join' })
  expect(attempt(count('1'))).toEqual({ ...first, attempt: 'again' })
  const others = [
    attempt(count('1'), { a: 2 }),
    attempt(count('1'), { a: 1 }, { caller: 'key-2' }),
    attempt(count('1'), { a: 1 }, { userId: 'ann' }),
    attempt({ ...count('1'), 'x-session-id': 's' }),
    attempt({ ...count('1'), 'x-openwebui-chat-id': 's' }),
    attempt({ ...count('1'), 'x-openwebui-user-id': 's' }),
  ]
  expect(new Set([first, ...others].map((one) => one?.key)).size).toBe(7)
})

test.each([[{}], [count('')], [count('-1')], [count('1e3')], [count('99999')], [count('0, 1')]])(
  'clients that send %j tell no attempts',
  (headers: Record<string, string>) => {
    expect(attempt(headers)).toBeUndefined()
  },
)
