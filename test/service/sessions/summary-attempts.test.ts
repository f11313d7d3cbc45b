import { expect, test } from 'vitest'
import { AppError } from '../../../src/core/error.ts'
import { type Logger, silentLogger } from '../../../src/core/logger.ts'
import { createSummaries } from '../../../src/service/sessions/summaries.ts'
import { memoryStore } from '../../../src/store/sessions/memory/store.ts'
import { at, endOf, seedOf, started } from '../../contract/session-store/builders.ts'

async function withJob() {
  const store = memoryStore()
  await store.open()
  await store.createSession(seedOf({ session_id: 's' }))
  const { runId } = await started(store, { run: { session_id: 's' }, session: null })
  await store.finishRun(endOf(runId))
  await store.scheduleSummary('s', at(1))
  const asked: string[] = []
  const open = (summarize: () => Promise<string>, logger: Logger = silentLogger) =>
    createSummaries({
      store,
      clock: Date.now,
      logger,
      summarizer: {
        name: 'test',
        summarize: () => {
          asked.push('asked')
          return summarize()
        },
      },
      timeoutMs: 5_000,
    })
  return { store, asked, open }
}

test('gives a job up that three processes have begun and none has ended', async () => {
  const { store, asked, open } = await withJob()
  for (let process = 1; process <= 3; process++) expect(await store.beginSummaryJob('s')).toBe(process)
  const summaries = open(async () => 'short')
  await summaries.recover()
  await expect.poll(() => store.listSummaryJobs()).toEqual([])
  expect(asked).toEqual([])
  expect(await store.findSummary('s')).toBeUndefined()
  await summaries.close()
})

test('takes a job up again that fewer have begun', async () => {
  const { store, asked, open } = await withJob()
  await store.beginSummaryJob('s')
  await store.beginSummaryJob('s')
  const summaries = open(async () => 'short')
  await summaries.recover()
  await expect.poll(() => store.findSummary('s')).toMatchObject({ content: 'short' })
  expect(asked).toEqual(['asked'])
  await summaries.close()
})

test('does not count what a shutdown has ended', async () => {
  const { store, asked, open } = await withJob()
  for (let process = 1; process <= 5; process++) {
    const summaries = open(() => new Promise(() => {}))
    await summaries.recover()
    await expect.poll(() => asked.length).toBe(process)
    await summaries.close()
  }
  expect(await store.listSummaryJobs()).toEqual(['s'])
})

test.each(['ends', 'is cut by a shutdown'])(
  'a session that is deleted while its summary is written is no error when the writing %s',
  async (how) => {
    const { store, asked, open } = await withJob()
    const errors: unknown[] = []
    const logger = { ...silentLogger, error: (...entry: unknown[]) => void errors.push(entry) }
    const written = Promise.withResolvers<string>()
    const summaries = open(() => written.promise, logger)
    await summaries.recover()
    await expect.poll(() => asked.length).toBe(1)
    await store.deleteSession('s')
    if (how === 'ends') written.resolve('short')
    await summaries.close()
    expect([errors, await store.listSummaryJobs()]).toEqual([[], []])
  },
)

test('a summary that a full disk could not take is written when there is room', async () => {
  const { store, asked, open } = await withJob()
  const save = store.saveSummary
  let isFull = true
  store.saveSummary = async (...given) => {
    if (isFull) throw new AppError('storage_full', 'The disk is full.')
    return save(...given)
  }
  const summaries = open(async () => 'short')
  await summaries.recover()
  await expect.poll(() => asked.length).toBe(1)
  isFull = false
  await expect.poll(() => store.findSummary('s')).toMatchObject({ content: 'short' })
  expect(await store.listSummaryJobs()).toEqual([])
  await summaries.close()
})
