import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionListFilter } from '../src/core/store.ts'
import { sqliteStore } from '../src/store/sessions/sqlite/store.ts'
import { at } from '../test/contract/session-store/builders.ts'
import { fillSessions } from './many-sessions.ts'
import { percentile } from './percentile.ts'

/*
 * Lists and totals of many sessions in one file: `node bench/sessions.ts [<sessions>]`, 100,000 by default. Exit code 1 when a
 * page of overviews takes more than 30 ms (p99), or a total more than 100 ms.
 */

const count = Number(process.argv[2] ?? 100_000)
const allowed = { pageMs: 30, totalMs: 100 }
const pagesEach = 100
const folder = await mkdtemp(join(tmpdir(), 'agentserve-sessions-'))
const store = sqliteStore({ path: join(folder, 'agentserve.db'), synchronous: 'NORMAL' })
let ok = true
try {
  await store.open()
  const begunMs = performance.now()
  await fillSessions(store, count)
  console.log(`filled: ${count} sessions in ${Math.round((performance.now() - begunMs) / 1_000)} s`)
  const filters: [name: string, filter: SessionListFilter][] = [
    ['all', {}],
    ['an agent of 5 %', { agent_id: 'agent-3' }],
    ['a user of 20 %', { user_id: 'busy' }],
    ['a user of 0.1 %', { user_id: 'user-7' }],
    ['an agent of a user', { agent_id: 'agent-3', user_id: 'busy' }],
    ...(['completed', 'failed', 'cancelled', 'input_required', 'running'] as const).map(
      (status): [string, SessionListFilter] => [`status ${status}`, { status }],
    ),
    ['status failed, an agent of 5 %', { status: 'failed', agent_id: 'agent-3' }],
    ['status failed, a user as itself', { status: 'failed', user_id: 'busy', as_user: true }],
    ['status input_required, a user', { status: 'input_required', user_id: 'busy' }],
  ]
  for (const [name, filter] of filters) {
    for (const limit of [50, 100]) await measurePages(name, filter, limit)
    await measureTotal(name, filter)
  }
} finally {
  await store.close()
  await rm(folder, { recursive: true, force: true })
}
if (!ok) process.exitCode = 1

/** From the first page on, and from pages deep in the list. */
async function measurePages(name: string, filter: SessionListFilter, limit: number): Promise<void> {
  const times: number[] = []
  let found = 0
  const follow = async (first: string | undefined) => {
    let cursor = first
    for (let page = 0; page < pagesEach; page++) {
      const begunMs = performance.now()
      const { items, next } = await store.listOverviews(filter, { limit, cursor })
      times.push(performance.now() - begunMs)
      found += items.length
      if (next === null) return
      cursor = next
    }
  }
  await follow(undefined)
  const deep = Buffer.from(JSON.stringify([at(Math.floor(count / 10)), ''])).toString('base64url')
  await follow(deep)
  const p99 = percentile(times, 0.99)
  ok &&= p99 <= allowed.pageMs
  console.log(`${name}, pages of ${limit}: p50 ${percentile(times, 0.5)} ms, p99 ${p99} ms; ${found} sessions`)
}

async function measureTotal(name: string, filter: SessionListFilter): Promise<void> {
  const times: number[] = []
  let total = 0
  for (let n = 0; n < 20; n++) {
    const begunMs = performance.now()
    total = await store.countSessions(filter)
    times.push(performance.now() - begunMs)
  }
  const most = Math.max(...times)
  ok &&= most <= allowed.totalMs
  console.log(`${name}, total ${total}: p50 ${percentile(times, 0.5)} ms, most ${most.toFixed(1)} ms`)
}
