import { expect, test } from 'vitest'
import type { RunEvent } from '../../src/core/event.ts'
import { savedTestOf } from '../../src/server/tests/saved-test-of.ts'
import type { Services } from '../../src/service/services.ts'

test('a session whose record is larger than a test may be is refused, and read no further', async () => {
  const read: string[] = []
  const turn = (place: number) => ({
    run_id: `run_${place}`,
    entity_id: 'a',
    parent_run_id: null,
    replaced_by: null,
    again_of: null,
  })
  const output = 'x'.repeat(8 * 1024 * 1024)
  const services = {
    sessions: { get: async () => ({}) },
    runs: {
      list: async () => ({ items: [5, 4, 3, 2, 1, 0].map(turn), next: null }),
      async get(runId: string) {
        read.push(runId)
        return { run_id: runId, status: 'completed', error: null, messages: [] }
      },
      events: async () => [],
      async *withPrompts() {
        const call = { call_id: 'c', name: 'big' }
        yield [
          { type: 'tool_call', ...call, input: {} },
          { type: 'tool_result', ...call, output },
        ] as unknown as RunEvent[]
      },
    },
  } as unknown as Services
  await expect(savedTestOf(services, 'ses_1')).rejects.toThrow('more than 32 MB, the most that a test can have')
  expect(read).toEqual(['run_0', 'run_1', 'run_2', 'run_3'])
})
