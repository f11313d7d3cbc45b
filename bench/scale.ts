import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { SessionStore } from '../src/core/store.ts'
import { sqliteStore } from '../src/store/sessions/sqlite/store.ts'
import { endOf, messageOf, seedOf, startOf } from '../test/contract/session-store/builders.ts'

/*
 * That a read costs what it gives and not what is there: the first and the 1,000th page of many sessions (`--sessions`,
 * 1,000,000; a tenth of them under one owner), and the latest 20 messages of a session of 100,000 (`--messages`) and of one of 100.
 * Medians of 200 reads each.
 */

const { values: options } = parseArgs({
  options: { sessions: { type: 'string', default: '1000000' }, messages: { type: 'string', default: '100000' } },
})
const sessionCount = Number(options.sessions)
const messageCount = Number(options.messages)
const pageNumber = 1_000
const atOnce = 500

const folder = await mkdtemp(join(tmpdir(), 'agentserve-scale-'))
const store = sqliteStore({ path: join(folder, 'sessions.db'), synchronous: 'NORMAL' })
await store.open()
try {
  await fill(sessionCount, (n) => ({ run: { session_id: `s${n}` }, owner: n % 10 === 0 ? 'a' : 'b' }))
  await row('page of 20 of all sessions', ...(await pages({})))
  await row('page of 20 of one owner', ...(await pages({ agent_id: 'a' })))
  const [long, short] = ['long', 'short']
  await fill(messageCount / 2, () => ({ run: { session_id: long }, owner: 'c' }))
  await fill(50, () => ({ run: { session_id: short }, owner: 'c' }))
  await row(
    'latest 20 messages',
    await medianMs(() => store.readHistory(short, 10)),
    await medianMs(() => store.readHistory(long, 10)),
  )
} finally {
  await store.close()
  await rm(folder, { recursive: true, force: true })
}

/** So many runs that begin and end at once. */
async function fill(count: number, of: (n: number) => { run: { session_id: string }; owner: string }): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - from) }, (_, index) => {
      const { run, owner } = of(from + index)
      const created_at = new Date(Date.UTC(2030, 0, 1) + from + index).toISOString()
      const session = seedOf({ ...run, agent_id: owner, created_at })
      const start = startOf({
        run: { ...run, created_at, status: 'queued' },
        session,
        text: 'A question of some length?',
      })
      const runId = start.run.run_id
      const messages = [messageOf(runId, 'assistant', 'An answer of some length.')]
      return [store.startRun(start), store.finishRun(endOf(runId, { messages, completed_at: created_at }))]
    })
    await Promise.all(some.flat())
  }
}

async function pages(filter: Parameters<SessionStore['listSessions']>[0]): Promise<[number, number]> {
  const page = (cursor?: string) => store.listSessions(filter, { limit: 20, cursor })
  let cursor: string | undefined
  for (let number = 1; number < pageNumber; number++) cursor = (await page(cursor)).next ?? undefined
  if (cursor === undefined) throw new Error('there are fewer pages')
  return [await medianMs(() => page()), await medianMs(() => page(cursor))]
}

async function medianMs(read: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    const begun = performance.now()
    await read()
    times.push(performance.now() - begun)
  }
  return times.sort((a, b) => a - b)[100] ?? Number.NaN
}

async function row(what: string, nearMs: number, farMs: number): Promise<void> {
  const cells = [what, `${nearMs.toFixed(3)} ms`, `${farMs.toFixed(3)} ms`, `${(farMs / nearMs).toFixed(2)} ×`]
  console.log(`| ${cells.join(' | ')} |`)
}
