import { expect, test } from 'vitest'
import { mountedRoutes } from '../access/routes.ts'

test('what waits for a run has the time of runs, and nothing else', () => {
  const waiting = mountedRoutes().filter(({ timeoutMs }) => timeoutMs !== undefined)
  expect(waiting.map(({ method, path, timeoutMs }) => `${method} ${path} ${timeoutMs}`).sort()).toEqual([
    'POST /api/v1/a2a/agents/{id} 1000',
    'POST /api/v1/a2a/agents/{id}/message:send 1000',
    'POST /api/v1/a2a/sendMessage 1000',
    'POST /api/v1/a2a/streamMessage 1000',
    'POST /api/v1/ag-ui/{agent} 1000',
    'POST /api/v1/agents/{id}/run 1000',
    'POST /api/v1/agents/{id}/run/stream 1000',
    'POST /api/v1/chat/{agent} 1000',
    'POST /api/v1/runs/{id}/resume 1000',
    'POST /v1/chat/completions 1000',
    'POST /v1/responses 1000',
  ])
})
