import { expect, test } from 'vitest'
import type { RunRecord } from '../../../src/core/run.ts'
import { userMemory } from '../../../src/service/execution/user-memory.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'

test('a try reads the facts again after the store could not give them, and keeps its own to itself', async () => {
  const store = memoryStore()
  let reads = 0
  const failing = {
    ...store,
    listFacts: async (user: string) => {
      if (++reads === 1) throw new Error('away')
      return store.listFacts(user)
    },
  }
  const run = { run_id: 'run_1', user_id: 'ann', entity_id: 'a', again_of: { keep: 'no' } } as unknown as RunRecord
  const user = userMemory({ store: failing, clock: () => 0 }, run, (use) => use())
  await expect(user.remember('Likes tea.')).rejects.toThrow('away')
  expect(await user.list()).toEqual([])
  await user.remember('Likes tea.')
  expect(await user.list()).toMatchObject([{ content: 'Likes tea.' }])
  expect([reads, await store.listFacts('ann')]).toEqual([2, []])
})
