import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createId } from '../../../src/core/id.ts'
import { isTry, isTurn } from '../../../src/core/run.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { sessionsDatabase } from '../../../src/store/sessions/sqlite/schema/database.ts'
import { sqliteStore } from '../../../src/store/sessions/sqlite/store.ts'
import { openConnection } from '../../../src/store/sqlite/open-database.ts'
import { endOf, messageOf, seedOf, started, textEvents } from '../../contract/session-store/builders.ts'
import { compileCache } from '../../support/compile-cache.ts'
import { countedWrites, killAt, killSteps } from '../../support/kill-at/kills.ts'

const child = join(import.meta.dirname, '../../support/kill-at/copies-child.ts')
const text = 'words of a run '.repeat(100_000)
const fileBytes = 3 * 1024 * 1024 + 1
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agentserve-kills-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function withStore<T>(name: string, work: (store: SessionStore) => Promise<T>): Promise<T> {
  const store = sqliteStore({ path: join(folder, name, 'sessions.db') })
  await store.open()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Another process does it in this folder, and is killed at a write; gives the writes that it came to. */
async function kill(name: string, operation: string, at: number | undefined): Promise<string[]> {
  const log = join(folder, 'log')
  const env = {
    PATH: process.env.PATH ?? '',
    ...compileCache(),
    ...killAt({ at, when: join(folder, name, 'armed'), log }),
  }
  const running = spawn(process.execPath, [child, join(folder, name), operation], { env, stdio: 'inherit' })
  const [code, signal] = await once(running, 'exit')
  // How often the file is checkpointed is not the same each time, so the last write may never come.
  expect(code === 0 || (at !== undefined && signal === 'SIGKILL')).toBe(true)
  return countedWrites(log)
}

/** The bytes that can be read of the run's only file; undefined without one. */
async function sizeOf(store: SessionStore, runId: string | undefined): Promise<number | undefined> {
  const files = await store.listFiles(runId ?? '')
  const [file] = files
  if (file === undefined || files.length > 1) return undefined
  let size = 0
  for (let piece = 0; ; piece++) {
    const bytes = await store.readFilePiece(file.session_id, file.file_id, piece)
    if (bytes === undefined) return size
    size += bytes.byteLength
  }
}

/** What anybody sees of the session `of` and its runs: nothing, or the whole. */
function look(name: string): Promise<string[]> {
  return withStore(name, async (store) => {
    const seen: string[] = []
    const { items } = await store.listSessions({}, { limit: 10 })
    // Without runs it is the namesake that the other process made afterwards.
    const filled = items.filter(({ run_count }) => run_count > 0)
    for (const { session_id } of filled) {
      const runs = await store.readRecords(session_id, undefined, 100)
      const isFileWhole = (await sizeOf(store, runs[0]?.run_id)) === fileBytes
      const whole = runs.length === 12 && isFileWhole && runs.every(({ messages }) => messages.length === 2)
      seen.push(whole ? 'whole' : `half: ${session_id} ${runs.length}`)
    }
    const { items: runs } = await store.listRuns({}, { limit: 100 })
    if (runs.length !== 12 * filled.length) seen.push(`half: ${runs.length} runs of ${filled.length} sessions`)
    return seen
  })
}

async function prepare(): Promise<void> {
  await withStore('origin', async (store) => {
    await store.createSession(seedOf({ session_id: 'of' }))
    for (let n = 0; n < 12; n++) {
      const run_id = createId('run')
      if (n === 0) {
        const file = { session_id: 'of', run_id, media_type: 'a/b', name: null, url: null }
        await store.saveFile({ ...file, bytes: new Uint8Array(fileBytes).fill(7) })
      }
      const { runId } = await started(store, { run: { run_id, session_id: 'of' }, session: null, text })
      await store.finishRun(endOf(runId, { messages: [messageOf(runId, 'assistant', 'an answer')] }))
    }
  })
}

test.each([
  ['copy', [['whole'], ['whole', 'whole']]],
  ['delete', [['whole'], []]],
  ['prune', [['whole'], []]],
])(
  'a kill at any write of a %s leaves all of it or nothing',
  async (operation, allowed) => {
    await prepare()
    await cp(join(folder, 'origin'), join(folder, 'counted'), { recursive: true })
    const writes = await kill('counted', operation, undefined)
    expect(writes.length).toBeGreaterThan(5)
    const done = allowed.at(-1)
    expect(await look('counted')).toEqual(done)
    for (const at of killSteps(writes.length, 6)) {
      const name = `${operation}-${at}`
      await cp(join(folder, 'origin'), join(folder, name), { recursive: true })
      await kill(name, operation, at)
      const seen = await look(name)
      expect(allowed).toContainEqual(seen)
      // The process after the kill has taken out what was left, or goes on with it.
      expect(await look(name)).toEqual(seen)
      await rm(join(folder, name), { recursive: true })
    }
  },
  120_000,
)

/** Whether there is the try, or the turn that it became, and that each is whole. */
function lookForTry(name: string): Promise<string[]> {
  return withStore(name, async (store) => {
    const seen: string[] = []
    const { items } = await store.listSessions({}, { limit: 10 })
    for (const { session_id, run_count } of items) {
      const runs = await store.readRecords(session_id, undefined, 100)
      const turns = runs.filter((run) => isTurn(run))
      if (turns.length !== run_count) seen.push(`${run_count} turns of ${turns.length}`)
      for (const run of runs.filter(({ again_of: of }) => of !== null)) {
        if (run.parent_run_id !== null) continue
        const inside = runs.filter(({ parent_run_id: parent }) => parent === run.run_id)
        const isSame = inside.every((child) => isTry(child) === isTry(run))
        const events = await store.readEvents(run.run_id, 0, 1_000)
        const isWhole = inside.length === 1 && isSame && events.length === 202 && run.messages.length === 2
        seen.push(`${isTry(run) ? 'try' : `turn by ${run.again_of?.keep}`} ${isWhole ? 'whole' : 'half'}`)
      }
    }
    return seen
  })
}

test.each([
  ['keep', 'turn by replace whole'],
  ['keep apart', 'turn by fork whole'],
])(
  'a kill at any write of %s leaves the try or the turn',
  async (operation, done) => {
    await prepare()
    await withStore('origin', async (store) => {
      const of = { run_id: 'run_of', session_id: 'of' }
      await store.finishRun(endOf((await started(store, { run: of, session: null })).runId))
      const again_of = { run_id: 'run_of', from: null, after: 'live', keep: 'no' } as const
      const run = { run_id: 'run_try', session_id: 'of', again_of }
      await started(store, { run, session: null })
      const child = { ...run, run_id: 'run_child', parent_run_id: 'run_try' }
      await started(store, { run: child, session: null })
      for (const runId of ['run_child', 'run_try']) {
        const events = textEvents(runId, 2, Array(200).fill(text.slice(0, 20_000)))
        const messages = [messageOf(runId, 'assistant', 'tried')]
        expect(await store.finishRun(endOf(runId, { events, messages, end_seq: 300, state: { n: 1 } }))).toBe('ok')
      }
    })
    expect(await lookForTry('origin')).toEqual(['try whole'])
    await cp(join(folder, 'origin'), join(folder, 'counted'), { recursive: true })
    const writes = await kill('counted', operation, undefined)
    expect(writes.length).toBeGreaterThan(5)
    expect(await lookForTry('counted')).toEqual([done])
    for (const at of killSteps(writes.length, 6)) {
      const name = `${operation}-${at}`
      await cp(join(folder, 'origin'), join(folder, name), { recursive: true })
      await kill(name, operation, at)
      const seen = await lookForTry(name)
      expect([['try whole'], [done]]).toContainEqual(seen)
      expect(await lookForTry(name)).toEqual(seen)
      await rm(join(folder, name), { recursive: true })
    }
  },
  120_000,
)

test('a kill at any write of a file leaves it whole with its run, or nothing of it', async () => {
  await prepare()
  await cp(join(folder, 'origin'), join(folder, 'counted'), { recursive: true })
  const writes = await kill('counted', 'save', undefined)
  expect(writes.length).toBeGreaterThan(5)
  for (const at of [undefined, ...killSteps(writes.length, 8)]) {
    const name = `save-${at}`
    await cp(join(folder, 'origin'), join(folder, name), { recursive: true })
    await kill(name, 'save', at)
    await withStore(name, async (store) => {
      await store.recover('two', '2030-01-01T00:00:00.000Z')
      const run = await store.findRun('run_new')
      expect(await sizeOf(store, 'run_new')).toBe(run && 5 * 1024 * 1024)
      // Whatever the kill left is gone: no content without a file, no file without a run.
      await expect.poll(() => leftIn(name)).toEqual({ contents: run ? 9 : 4, files: run ? 2 : 1 })
    })
    await rm(join(folder, name), { recursive: true })
  }
}, 120_000)

async function leftIn(name: string) {
  const connection = await openConnection(join(folder, name, 'sessions.db'), sessionsDatabase, 'NORMAL', true)
  const count = 'SELECT (SELECT count(*) FROM file_contents) AS contents, (SELECT count(*) FROM files) AS files'
  const [row] = await connection.all(count)
  await connection.close()
  return row
}
