import { expect } from 'vitest'
import type { EmittedEvent, RunEvent } from '../../../src/core/event.ts'
import { createId } from '../../../src/core/id.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Message } from '../../../src/core/message.ts'
import type { RunRecord } from '../../../src/core/run.ts'
import type { Claim, RunEnd, RunStart, RunStarted } from '../../../src/core/run-write.ts'
import type { SessionSeed } from '../../../src/core/session.ts'
import type { HistoryView, SessionStore } from '../../../src/core/store.ts'

/** Builds what the suite puts in. `at(n)` is the n-th second of the suite's own time. */
export function at(second: number): string {
  return new Date(Date.UTC(2030, 0, 1, 0, 0, 0) + second * 1000).toISOString()
}

export function seedOf(fields: Partial<SessionSeed> = {}): SessionSeed {
  return {
    session_id: createId('ses'),
    agent_id: null,
    team_id: null,
    workflow_id: null,
    user_id: null,
    name: null,
    metadata: null,
    state: null,
    created_at: at(0),
    ...fields,
  }
}

export function messageOf(runId: string, role: Message['role'], text: string, createdAt = at(0)): Message {
  const parts: Message['parts'] = [{ type: 'text', text }]
  return { message_id: createId('msg'), run_id: runId, role, parts, content: text, created_at: createdAt }
}

export interface StartFields {
  run?: Partial<RunRecord>
  session?: SessionSeed | null
  state?: RunStart['state']
  claim?: Claim | null
  owner?: string
  text?: string
}

/** The start of a run; without `session` it makes a session of its own. */
export function startOf({
  run,
  session,
  state = null,
  claim = null,
  owner = 'one',
  text = 'hi',
}: StartFields): RunStart {
  const runId = run?.run_id ?? createId('run')
  const sessionId = run?.session_id ?? session?.session_id ?? createId('ses')
  const createdAt = run?.created_at ?? at(0)
  const message = messageOf(runId, 'user', text, createdAt)
  const record: RunRecord = {
    run_id: runId,
    session_id: sessionId,
    parent_run_id: null,
    entity_id: 'echo',
    entity_kind: 'agent',
    status: 'running',
    created_at: createdAt,
    started_at: run?.status === 'queued' ? null : createdAt,
    completed_at: null,
    cancellation_reason: null,
    error: null,
    cache_hit: false,
    usage: null,
    user_id: null,
    metadata: null,
    background: false,
    timeout_ms: null,
    truncated: false,
    end_seq: null,
    messages: [message],
    sources: [],
    waiting: [],
    replaced_by: null,
    again_of: null,
    given: null,
    ...run,
  }
  const seed = session === undefined ? seedOf({ session_id: sessionId, created_at: createdAt }) : session
  return { run: record, message, session: seed, state, claim, owner }
}

export function endOf(runId: string, fields: Partial<RunEnd> = {}): RunEnd {
  return {
    run_id: runId,
    fence: 1,
    status: 'completed',
    completed_at: at(1),
    end_seq: 2,
    cancellation_reason: null,
    error: null,
    cache_hit: false,
    usage: null,
    events: [],
    messages: [],
    sources: [],
    ...fields,
  }
}

export function eventOf(runId: string, seq: number, body: EmittedEvent, time = at(seq)): RunEvent {
  return { ...body, run_id: runId, seq, at: time }
}

export function textEvents(runId: string, from: number, texts: string[], time?: string): RunEvent[] {
  return texts.map((text, index) => eventOf(runId, from + index, { type: 'text_delta', text }, time))
}

export function claimOf(key: string, expiresAt = at(86_400 * 365)): Claim {
  return { key, hash: `hash of ${key}`, expires_at: expiresAt }
}

/** Starts a run and gives its ids; fails the test when it was not accepted. */
export async function started(
  store: SessionStore,
  fields: StartFields = {},
): Promise<{ runId: string; sessionId: string }> {
  const start = startOf(fields)
  const result: RunStarted = await store.startRun(start)
  if (result.outcome !== 'started' && result.outcome !== 'queued') throw new Error(`not started: ${result.outcome}`)
  return { runId: start.run.run_id, sessionId: start.run.session_id }
}

/** Every page of a list, in order. */
export async function allPages<T>(
  list: (cursor: string | undefined) => Promise<{ items: T[]; next: string | null }>,
): Promise<T[][]> {
  const pages: T[][] = []
  let cursor: string | undefined
  do {
    const page = await list(cursor)
    pages.push(page.items)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return pages
}

const sessionId = 's'

interface Turn {
  text: string
  replaces?: string
  queued?: boolean
  state?: JsonObject
  second?: number
}

/** What the runs of one session do, in short words. */
export function turnsIn(store: () => SessionStore) {
  async function begin({ text, replaces, queued, state, second = 1 }: Turn): Promise<string> {
    const status = queued ? 'queued' : 'running'
    const run = { session_id: sessionId, created_at: at(second), status, background: queued === true } as const
    const start = { ...startOf({ run, session: null, text, state: state ?? null }), replaces }
    const outcome = await store().startRun(start)
    expect(outcome).toMatchObject({ outcome: queued ? 'queued' : 'started' })
    return start.run.run_id
  }
  const finish = (runId: string, more: Partial<RunEnd> = {}) =>
    store().finishRun(endOf(runId, { messages: [messageOf(runId, 'assistant', `re ${runId}`)], ...more }))
  const fail = (runId: string, more: Partial<RunEnd> = {}) =>
    store().finishRun(endOf(runId, { status: 'failed', bringsBack: true, ...more }))
  async function say(turn: Turn, end: Partial<RunEnd> = {}): Promise<string> {
    const runId = await begin(turn)
    expect(await finish(runId, end)).toBe('ok')
    return runId
  }
  async function shown(view?: HistoryView): Promise<string[]> {
    return (await store().readHistory(sessionId, 20, view)).runs.map(({ run_id }) => run_id)
  }
  const markOf = async (runId: string) => (await store().findRun(runId))?.replaced_by
  const stateNow = async () => (await store().findSession(sessionId))?.session.state
  const open = (state: JsonObject | null = null) => store().createSession(seedOf({ session_id: sessionId, state }))
  return { begin, finish, fail, say, shown, markOf, stateNow, open }
}
