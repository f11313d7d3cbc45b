import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunStatus } from '../src/core/run.ts'
import type { SessionListFilter, SessionStore } from '../src/core/store.ts'
import { sqliteStore } from '../src/store/sessions/sqlite/store.ts'
import { at, endOf, startOf } from '../test/contract/session-store/builders.ts'
import { percentile } from './percentile.ts'

/*
 * Lists and totals of many sessions in one file: `node bench/sessions.ts [<sessions>]`, 100,000 by default. Exit code 1 when a
 * page of overviews takes more than 30 ms (p99), or a total more than 100 ms.
 */

const count = Number(process.argv[2] ?? 100_000)
const allowed = { pageMs: 30, totalMs: 100 }
const atOnce = 500
const pagesEach = 100
const usage = { input_tokens: 900, output_tokens: 80, total_tokens: 980, cached_input_tokens: 512 }
/** Of each thousand sessions, the status of the last turn; the others are completed. */
const shares: [status: Exclude<RunStatus, 'queued' | 'running'>, sessions: number][] = [
  ['failed', 200],
  ['cancelled', 40],
  ['input_required', 1],
]

const folder = await mkdtemp(join(tmpdir(), 'agentserve-sessions-'))
const store = sqliteStore({ path: join(folder, 'agentserve.db'), synchronous: 'NORMAL' })
let ok = true
try {
  await store.open()
  const begunMs = performance.now()
  await fill(store)
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

/** One to three turns each, through the store's own writes. */
async function fill(into: SessionStore): Promise<void> {
  for (let from = 0; from < count; from += atOnce) {
    const turns = (n: number) => 1 + (n % 3)
    for (let turn = 0; turn < 3; turn++) {
      const sessions = Array.from({ length: Math.min(atOnce, count - from) }, (_, n) => from + n)
      await Promise.all(
        sessions
          .filter((n) => turn < turns(n))
          .map((n) => say(into, n, turn === turns(n) - 1 ? lastOf(n) : 'completed')),
      )
    }
  }
}

function lastOf(n: number): (typeof shares)[number][0] | 'completed' {
  // Spread over the list, not in runs of their own.
  let place = (n * 7_919) % 1_000
  for (const [status, sessions] of shares) {
    if (place < sessions) return status
    place -= sessions
  }
  return 'completed'
}

async function say(into: SessionStore, n: number, status: ReturnType<typeof lastOf>): Promise<void> {
  const session_id = `ses-${n}`
  const owners = { agent_id: `agent-${n % 20}`, user_id: n % 5 === 0 ? 'busy' : `user-${n % 1_000}` }
  const start = startOf({
    run: { session_id, created_at: at(n) },
    text: `What about number ${n}? ${'words '.repeat(50)}`,
  })
  const session = start.session && { ...start.session, ...owners }
  const runId = start.run.run_id
  await into.startRun({ ...start, session })
  const answer = { ...start.message, message_id: `${runId}-a`, role: 'assistant' as const, content: 'x' }
  const usage_by_model = [{ model: 'a-model', ...usage, largest_input_tokens: 900 }]
  await into.finishRun(endOf(runId, { status, completed_at: at(n), messages: [answer], usage, usage_by_model }))
}

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
