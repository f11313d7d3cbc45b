import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import type { RunHead } from '../../../src/core/run.ts'
import { Following } from '../../../src/service/live/following.ts'
import { follow } from './open.ts'

const headOf = (run_id: string, parent: string | null, status = 'running', end_seq: number | null = null) =>
  ({ run_id, parent_run_id: parent, session_id: 's', user_id: null, status, end_seq }) as RunHead

/** Runs whose events are given by hand. */
function openFollowing(children: boolean) {
  const runs = new Map<string, RunHead>()
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const reads: string[] = []
  const given: string[] = []
  let wake = () => {}
  const following = new Following({
    children,
    prompts: false,
    heads: {
      run: async (runId) => runs.get(runId),
      underWay: async () => [],
      children: async (runId) => ({
        items: [...runs.values()].filter(({ parent_run_id: parent }) => parent === runId) as never[],
        next: null,
      }),
    },
    runs: {
      events: async (runId, after) => {
        reads.push(`${runId}:${after}`)
        const end = Promise.withResolvers<void>()
        ends.set(runId, end)
        return (async function* () {
          yield [{ type: 'text_delta', run_id: runId, seq: (after ?? 0) + 1 } as RunEvent]
          await end.promise
        })()
      },
      withPrompts: (_, events) => events,
    },
    sees: async () => true,
    give: async ({ run, events }) => {
      given.push(...events.map(({ seq }) => `${run.run_id} ${seq}`))
      wake()
    },
    behind: () => {},
    fail: (error) => {
      throw error
    },
  })
  return {
    runs,
    ends,
    reads,
    following,
    async until(what: string) {
      while (!given.includes(what)) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

test('finds the new child and the resumed run whose changes were dropped', async () => {
  const { runs, ends, following, until, reads } = openFollowing(true)
  runs.set('team', headOf('team', null))
  runs.set('paused', headOf('paused', null, 'input_required', 1))
  following.begin(
    follow([
      ['team', 0],
      ['paused', 0],
    ]),
  )
  await until('team 1')
  await until('paused 1')
  ends.get('paused')?.resolve()
  await new Promise(setImmediate)
  runs.set('member', headOf('member', 'team'))
  runs.set('paused', headOf('paused', null, 'running'))
  following.catchUp()
  await until('member 1')
  await until('paused 2')
  expect(reads.toSorted()).toEqual(['member:0', 'paused:0', 'paused:1', 'team:0'])
  following.close()
})

test('reads an ended run that has not changed no second time', async () => {
  const { runs, ends, following, until, reads } = openFollowing(false)
  runs.set('ended', headOf('ended', null, 'completed', 1))
  following.begin(follow([['ended', 0]]))
  await until('ended 1')
  ends.get('ended')?.resolve()
  await new Promise(setImmediate)
  following.catchUp()
  await new Promise(setImmediate)
  expect(reads).toEqual(['ended:0'])
  following.close()
})
