import { AppError } from '../../../src/core/error.ts'
import { isTurn } from '../../../src/core/run.ts'
import type { RunStart, RunStarted } from '../../../src/core/run-write.ts'
import type { SessionStore } from '../../../src/core/store.ts'
import { timestamp } from '../../../src/core/time.ts'
import { readClaim } from '../../../src/store/sessions/memory/claims.ts'
import { pushStore } from '../../../src/store/sessions/memory/push.ts'
import { storeOf } from '../../../src/store/sessions/memory/store.ts'
import type { SharedState } from './shared-state.ts'

/** How many runs of a session may wait. */
const queueLimit = 100

/** A store of the shared content, with the rules that hold between instances. `ownOwner`: of its present instance. */
export function memberStore(shared: SharedState, ownOwner: () => string | undefined): SessionStore {
  const { content, instances } = shared
  const inner = storeOf(content)

  function assertAlive(owner: string | undefined): void {
    if (owner === undefined || !instances.isOver(owner)) return
    throw new AppError('unavailable', 'This instance has left or was declared dead.')
  }

  /** What the start becomes with other turns of its session under way, or why it does not. */
  function place(start: RunStart): RunStart | RunStarted {
    const { run, claim, whenBusy } = start
    if (run.status === 'queued' && whenBusy !== 'queue') return start
    const claimed = claim === null ? undefined : readClaim(content, claim.key, timestamp(content.clock()))
    const isClaimed = claimed !== undefined && claimed.run_id !== claim?.over
    const active = shared.activeTurns(run.session_id)
    if (isClaimed || !isTurn(run) || active.length === 0) return start
    if (run.status === 'running' && whenBusy !== 'queue') return { outcome: 'busy' }
    const waiting = active.filter(({ record }) => record.status === 'queued')
    if (whenBusy === 'queue' && waiting.length >= queueLimit) return { outcome: 'full' }
    return { ...start, run: { ...run, status: 'queued', started_at: null } }
  }

  function isNext(runId: string): boolean {
    const row = content.runs.get(runId)
    if (row === undefined || shared.cancels.has(runId)) return row === undefined
    const first = shared.activeTurns(row.record.session_id).find(({ record }) => record.status === 'queued')
    return !isTurn(row.record) || row.record.status !== 'queued' || first === row
  }

  return {
    ...inner,
    ...pushStore(
      content,
      async (work) => work(),
      (owner) => instances.isGone(owner),
    ),
    async startRun(start) {
      assertAlive(start.owner)
      const placed = place(start)
      if ('outcome' in placed) return placed
      const starting = inner.startRun(placed)
      const session = content.sessions.get(start.run.session_id)
      const touched = session && { revision: session.revision, birth: shared.birthOf(session) }
      const started = await starting
      const isStored = started.outcome === 'started' || started.outcome === 'queued'
      return isStored ? { ...started, ...touched } : started
    },
    async beginRun(runId, fence, at) {
      const row = content.runs.get(runId)
      if (row?.fence === fence && !isNext(runId)) return 'wait'
      const begun = await inner.beginRun(runId, fence, at)
      if (begun === 'begun') shared.wires.wakeFollowers(runId)
      return begun
    },
    async appendEvents(batch) {
      const appended = await inner.appendEvents(batch)
      if (appended === 'ok') shared.wires.wakeFollowers(batch.run_id)
      return appended
    },
    async finishRun(end) {
      const finished = await inner.finishRun(end)
      if (finished === 'ok') shared.wakeAfter(end.run_id)
      return finished
    },
    async resumeRun(resume) {
      assertAlive(resume.owner)
      const resumed = await inner.resumeRun(resume)
      if (resumed.outcome === 'resumed') shared.wires.wakeFollowers(resume.run_id)
      return resumed
    },
    async claim(claim, answer) {
      assertAlive(ownOwner())
      const isFree = readClaim(content, claim.key, timestamp(content.clock())) === undefined
      if (isFree) shared.claims.set(claim.key, ownOwner() ?? '')
      return inner.claim(claim, answer)
    },
    async saveFile(file) {
      shared.files.set(file.run_id, ownOwner() ?? '')
      return inner.saveFile(file)
    },
    async beginSummaryJob(sessionId) {
      const holder = shared.jobs.get(sessionId)
      if (holder !== undefined && holder !== ownOwner() && !instances.isGone(holder)) return 0
      if (content.summaryJobs.has(sessionId)) shared.jobs.set(sessionId, ownOwner() ?? '')
      return inner.beginSummaryJob(sessionId)
    },
    async saveSummary(summary, last) {
      const saved = await inner.saveSummary(summary, last)
      if (saved) shared.jobs.delete(summary.session_id)
      return saved
    },
    async dropSummaryJob(sessionId) {
      shared.jobs.delete(sessionId)
      return inner.dropSummaryJob(sessionId)
    },
    recover: async (owner, at) => shared.recover(owner, at),
  }
}
