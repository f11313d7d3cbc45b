import { expect, test } from 'vitest'
import type { RunEvent } from '../../../src/core/event.ts'
import { sharePages } from '../../../src/service/events/shared-pages.ts'

test('a page is read once for all its readers, and never given to readers of another run', async () => {
  const asked: string[] = []
  const readPage = sharePages(async (runId) => {
    asked.push(runId)
    const event: RunEvent = { type: 'text_delta', text: `said in ${runId}`, run_id: runId, seq: 2, at: '' }
    return [event]
  })
  const runs = ['run_a', 'run_b', 'run_a', 'run_b'].map((run_id) => ({ run_id, end_seq: 3 }))
  for (let round = 0; round < 2; round++) {
    const pages = await Promise.all(runs.map((run) => readPage(run, 1, 10)))
    expect(pages.map(([event]) => event?.run_id)).toEqual(runs.map(({ run_id }) => run_id))
  }
  expect(asked).toEqual(['run_a', 'run_b'])
})

test('a page of a run that has not ended is read anew', async () => {
  let length = 0
  const event: RunEvent = { type: 'text_delta', text: 'more', run_id: 'run_a', seq: 2, at: '' }
  const readPage = sharePages(async () => Array<RunEvent>(++length).fill(event))
  const growing = { run_id: 'run_a', end_seq: null }
  expect([(await readPage(growing, 1, 10)).length, (await readPage(growing, 1, 10)).length]).toEqual([1, 2])
})
