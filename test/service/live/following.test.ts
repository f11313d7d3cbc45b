import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { RunHead } from '../../../src/core/run.ts'
import { Following } from '../../../src/service/live/following.ts'
import { anyone, follow, openLive } from './open.ts'

const head = { run_id: 'run_1', parent_run_id: null, status: 'running', end_seq: null } as RunHead
const text = (seq: number) => ({ type: 'text_delta', run_id: 'run_1', seq, at: '', text: `${seq}` }) as RunEvent

test('reads on when a run is resumed before the reader has taken what came before its pause', async () => {
  const parts = [[text(1)], [text(2)]]
  const reads: number[] = []
  const taken = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const given = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const seen: number[] = []
  const following = new Following({
    runs: {
      async events(_runId, after) {
        reads.push(after)
        const part = parts.shift() ?? []
        return (async function* () {
          if (part.length > 0) yield part
        })()
      },
      withPrompts: (_runId, events) => events,
    },
    heads: { run: async () => head, underWay: async () => [], children: async () => ({ items: [], next: null }) },
    children: false,
    prompts: false,
    sees: async () => true,
    give: ({ events }) => {
      const place = seen.push(...events.map(({ seq }) => seq)) - 1
      given[place]?.resolve()
      return taken[place]?.promise ?? Promise.resolve()
    },
    behind: () => {},
    fail: (error) => {
      throw error
    },
  })
  following.begin(follow([['run_1', 0]]))
  await given[0]?.promise
  // It paused after event 1 and was resumed; the reader has yet to take that event.
  following.changed(head)
  taken[0]?.resolve()
  await given[1]?.promise
  expect([seen, reads]).toEqual([
    [1, 2],
    [0, 1],
  ])
  following.close()
})

test('keeps nothing of followed runs that do not exist', async () => {
  const { live, read } = await openLive()
  for (let count = 0; count < 2; count++) {
    const reader = await live.open({ ...anyone, follow: follow([['run_none', 0]]) })
    await reader.next()
    await reader.return()
  }
  expect(read).toEqual(['run_none', 'run_none'])
  live.close()
})
