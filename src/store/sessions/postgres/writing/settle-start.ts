import { AppError } from '../../../../core/error.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { isTry, isTurn } from '../../../../core/run.ts'
import type { RunStart, RunStarted } from '../../../../core/run-write.ts'
import type { Sql } from '../../../postgres/connection.ts'
import { fromJson, toJson } from '../../rows/rows.ts'
import { readClaim } from '../reading/claims.ts'
import { isOfSession } from './hot-statement.ts'
import { HotWrite } from './hot-write.ts'
import { maxWaiting } from './limits.ts'
import {
  assertMayWrite,
  countWaiting,
  hasTurn,
  lockRun,
  lockSession,
  Overtaken,
  readSession,
  type StoredSession,
} from './look.ts'
import { madeTexts } from './made-texts.ts'
import type { Decided } from './rows.ts'
import { findReplaced, findSuperseded, lockReplaced, type Replaced, replaceTurns, rewindState } from './turns.ts'

export interface StartContext {
  /** It was sent before, and may have been written. */
  again: boolean
  isLarge: boolean
  /** Of the owner. */
  key: number
  now: string
}

export async function settleStart(sql: Sql, start: RunStart, context: StartContext): Promise<RunStarted> {
  const { run, claim } = start
  const present = await lockRun(sql, run.run_id)
  const isMine = context.again && present?.owner === context.key && present.fence === 1
  if (present !== undefined && isMine) return found(sql, start, present.status === 'queued')
  const taken = claim === null ? undefined : await readClaim(sql, claim.key, context.now)
  const isLeft = taken !== undefined && taken.run_id === run.run_id && present === undefined
  if (taken !== undefined && !isLeft && taken.run_id !== claim?.over) return { outcome: 'claimed', claim: taken }
  if (claim !== null) await freeClaim(sql, claim.key, run.run_id, context.now)
  const decision = await decide(sql, start, context)
  if (decision.outcome !== undefined) return decision.outcome
  if (present !== undefined) throw new AppError('conflict', `Run '${run.run_id}' already exists.`)
  if (claim?.over !== undefined) await freeClaim(sql, claim.key, claim.over, context.now)
  return write(sql, start, decision, context)
}

type Decision =
  | { outcome: RunStarted }
  | {
      outcome?: undefined
      status: 'running' | 'queued'
      session: StoredSession | undefined
      turns: Replaced | undefined
    }

async function decide(sql: Sql, start: RunStart, { key }: StartContext): Promise<Decision> {
  const { run, replaces } = start
  const { session_id: sessionId } = run
  await assertMayWrite(sql, key)
  if (replaces !== undefined) await lockReplaced(sql, sessionId, replaces)
  const session = await (replaces === undefined ? readSession(sql, sessionId) : lockSession(sql, sessionId))
  if (session === undefined && (start.session === null || isTry(run)))
    return { outcome: { outcome: 'session_missing' } }
  const turns = replaces === undefined ? undefined : await findReplaced(sql, sessionId, replaces)
  if (turns !== undefined && 'outcome' in turns) return { outcome: turns }
  const status = await statusOf(sql, start)
  if (status === 'busy' || status === 'full') return { outcome: { outcome: status } }
  return { status, session, turns }
}

async function statusOf(sql: Sql, { run, whenBusy }: RunStart): Promise<'running' | 'queued' | 'busy' | 'full'> {
  const status = run.status as 'running' | 'queued'
  if (!isTurn(run) || (status === 'queued' && whenBusy !== 'queue')) return status
  if (status === 'running') {
    const isFree = !(await hasTurn(sql, run.session_id, 'running')) && !(await hasTurn(sql, run.session_id, 'queued'))
    if (isFree) return status
    if (whenBusy !== 'queue') return 'busy'
  }
  // They are counted one after the other.
  await lockSession(sql, run.session_id)
  return (await countWaiting(sql, run.session_id, maxWaiting)) < maxWaiting ? 'queued' : 'full'
}

async function write(
  sql: Sql,
  start: RunStart,
  { status, session, turns }: Exclude<Decision, { outcome: RunStarted }>,
  { key, isLarge }: StartContext,
): Promise<RunStarted> {
  const { run } = start
  const superseded = turns && (await replaceTurns(sql, turns, run))
  if (status === 'running' && turns !== undefined) await rewindState(sql, run.run_id, run.session_id)
  // A waiting run that replaces turns always has a state, so that its beginning looks for them.
  const state = isTry(run) ? null : (start.state ?? (turns === undefined || status === 'running' ? null : {}))
  const present = turns === undefined ? session : await lockSession(sql, run.session_id)
  const rows = new HotWrite(isLarge)
  const decided = { status, exists: session !== undefined, state: mergedState(state, status, present) }
  const made = await madeTexts(run.messages, run.given)
  rows.addStart({ ...start, state }, undefined, undefined, made, decided)
  const answer = await rows.write(sql, key, false).catch((error: unknown) => {
    throw isOfSession(error) ? new Overtaken() : error
  })
  const becomes = answer.starts.get(run.run_id)
  if (becomes === undefined) throw new Overtaken()
  const touched = answer.sessions.get(run.session_id)
  // The state was merged into that of a session that nobody has locked.
  if (decided.state !== undefined && touched?.revision !== (present?.revision ?? 0) + 1) throw new Overtaken()
  return {
    outcome: becomes === 'queued' ? 'queued' : 'started',
    fence: 1,
    created_session: touched?.isNew === true,
    ...(superseded && { superseded }),
    ...(touched && { revision: touched.revision, birth: touched.birth }),
  }
}

function mergedState(
  state: JsonObject | null,
  status: 'running' | 'queued',
  session: StoredSession | undefined,
): Decided['state'] {
  if (session === undefined || state === null || status === 'queued') return undefined
  const before = fromJson<JsonObject>(session.state)
  return { becomes: toJson({ ...before, ...state }) ?? 'null', before: session.state ?? 'null' }
}

/** What the first time answered, without the revision: others may have raised it since. */
async function found(sql: Sql, { run, session, replaces }: RunStart, isQueued: boolean): Promise<RunStarted> {
  const present = await readSession(sql, run.session_id)
  const isNew = present?.run_count === 1 && session !== null && present.created_at === session.created_at
  return {
    outcome: isQueued ? 'queued' : 'started',
    fence: 1,
    created_session: isNew,
    ...(replaces !== undefined && { superseded: await findSuperseded(sql, run.session_id, run.run_id) }),
  }
}

/** Of its time, or of this run: a group left it that could not write the run, or it is taken over. */
async function freeClaim(sql: Sql, key: string, runId: string, now: string): Promise<void> {
  await sql.run('DELETE FROM claim WHERE claim_key = $1 AND (expires_at <= $3 OR run_id = $2)', [key, runId, now])
}
