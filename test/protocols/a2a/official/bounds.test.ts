import { expect, test } from 'vitest'
import type { Run, RunRecord } from '../../../../src/core/run.ts'
import { listTasks } from '../../../../src/protocols/a2a/official/list.ts'
import type { Call } from '../../../../src/protocols/a2a/official/operations.ts'
import { rpcWriter } from '../../../../src/protocols/a2a/official/rpc.ts'
import { TaskProjection } from '../../../../src/protocols/a2a/official/stream.ts'
import { recordRun } from '../../../support/protocols/recorded-runs.ts'
import { echo, openServices, request } from '../../../support/services.ts'

/* What one request may cost, whatever a store has. */

/** A call over a store with very many runs, all like one that was made; `change` gets the number of each. */
async function callOver(count: number, change: (run: RunRecord, at: number) => RunRecord = (run) => run) {
  const services = await openServices({ echo })
  const { runId } = await services.runs.start(request('echo', 'hello'))
  await expect.poll(async () => (await services.runs.get(runId)).status).toBe('completed')
  const made = await services.runs.get(runId)
  const reads = { pages: 0, records: 0 }
  const idAt = (place: number) => `run_${String(place).padStart(26, '0')}`
  const runs = {
    ...services.runs,
    async list({ before }: { before?: string | undefined }, page: { limit: number; cursor?: string | undefined }) {
      reads.pages++
      const from = Number(page.cursor ?? (before === undefined ? 0 : Number(before.slice(4)) + 1))
      const items: Run[] = []
      for (let at = from; at < Math.min(count, from + page.limit); at++)
        items.push({ ...change(made, at), run_id: idAt(at) })
      const next = from + page.limit
      return { items, next: next < count ? String(next) : null }
    },
    async get(id: string) {
      reads.records++
      return { ...change(made, Number(id.slice(4))), run_id: id }
    },
  }
  const list = (params: object) =>
    listTasks({
      services: { ...services, runs },
      request: { scopes: undefined },
      agentId: 'echo',
      params,
      version: '1.0',
      fileUrl: () => '',
      fileBytes: 0,
    } as unknown as Call)
  return { list, reads }
}

test('a list that finds nothing looks at a part of a large store, and can be continued', async () => {
  const { list, reads } = await callOver(25_000)
  const params = { status: 'TASK_STATE_FAILED' }
  const first = await list(params)
  expect(first.tasks).toEqual([])
  expect(first.nextPageToken).not.toBe('')
  expect(reads.pages).toBeLessThan(250)
  let pages = 1
  for (let pageToken = first.nextPageToken; pageToken !== ''; pages++) {
    const page = await list({ ...params, pageToken })
    expect(page.tasks).toEqual([])
    pageToken = page.nextPageToken
  }
  expect(pages).toBe(3)
})

test('a page of large answers has fewer of them, and the next pages have the others', async () => {
  const text = 'x'.repeat(3_000_000)
  const large = (run: RunRecord): RunRecord => ({
    ...run,
    messages: run.messages.map((message) => ({ ...message, parts: [{ type: 'text', text }] })),
  })
  const { list, reads } = await callOver(12, large)
  const first = await list({ includeArtifacts: true })
  expect(first.tasks.length).toBeLessThan(12)
  expect(reads.records).toBeLessThan(12)
  const seen = new Set(first.tasks.map(({ id }) => id))
  for (let pageToken = first.nextPageToken; pageToken !== ''; ) {
    const page = await list({ includeArtifacts: true, pageToken })
    expect(page.totalSize).toBe(12)
    for (const { id } of page.tasks) seen.add(id)
    pageToken = page.nextPageToken
  }
  expect(seen.size).toBe(12)
})

test('the latest thousand tasks are sorted by the time of their status, then those before, each once', async () => {
  const timeOf = (at: number) => new Date(Date.UTC(2026, 0, 1) + ((at * 7_919) % 2_300) * 1_000).toISOString()
  const { list, reads } = await callOver(2_300, (run, at) => ({ ...run, completed_at: timeOf(at) }))
  const seen: { id: string; time: string }[] = []
  let pageToken = ''
  let pages = 0
  do {
    reads.pages = 0
    const page = await list({ pageSize: 100, pageToken })
    expect(page.totalSize).toBe(1_000)
    expect(reads.pages).toBeLessThanOrEqual(22)
    seen.push(...page.tasks.map(({ id, status }) => ({ id, time: status.timestamp })))
    pageToken = page.nextPageToken
    pages++
  } while (pageToken !== '')
  expect(pages).toBe(23)
  expect(new Set(seen.map(({ id }) => id)).size).toBe(2_300)
  for (const [from, to] of [
    [0, 1_000],
    [1_000, 2_000],
    [2_000, 2_300],
  ] as const) {
    const times = seen.slice(from, to).map(({ time }) => time)
    expect(times).toEqual(times.toSorted().toReversed())
    const numbers = seen.slice(from, to).map(({ id }) => Number(id.slice(4)))
    expect([Math.min(...numbers), Math.max(...numbers)]).toEqual([from, to - 1])
  }
})

test('an id with the sign that marks texts leaves the frames whole', async () => {
  const recorded = recordRun('mark', [])
  const projection = new TaskProjection({ ...recorded.run, status: 'running' }, rpcWriter('1.0', '\u0001'), () => '')
  const stamp = { run_id: recorded.run.run_id, at: '2026-01-01T00:00:00.000Z' }
  const frames = ['one', 'two', 'three'].map((text, seq) => projection.add({ ...stamp, type: 'text_delta', seq, text }))
  expect(frames.map((frame) => JSON.parse(frame.slice('data: '.length)))).toEqual(
    ['one', 'two', 'three'].map((text) =>
      expect.objectContaining({
        id: '\u0001',
        result: {
          artifactUpdate: expect.objectContaining({ artifact: { artifactId: 'response', parts: [{ text }] } }),
        },
      }),
    ),
  )
})
