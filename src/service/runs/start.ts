import { invalid } from '../../core/error.ts'
import type { ClaimRecord } from '../../core/run-write.ts'
import type { Runnable } from '../../core/runnable.ts'
import { compileJsonSchema } from '../../schema/json-schema.ts'
import type { RunExecution } from '../execution/execution.ts'
import { toClaim } from '../idempotency.ts'
import { checkClientTools } from '../limits/client-tools.ts'
import { checkCallersGiven, checkGiven, checkMerged } from '../limits/given.ts'
import type { RunHandle, StartRun } from '../services.ts'
import type { Adoption } from './adoption.ts'
import { mayTakeOver } from './attempts.ts'
import type { RunsElsewhere } from './elsewhere.ts'
import { checkInput, takeGiven } from './given.ts'
import { ownHandle } from './handle.ts'
import type { Beginning, LiveRuns } from './live.ts'
import { beginsEarly, type PreparedRun } from './prepare.ts'
import { prepareReplacement } from './replacing.ts'
import { createRun, createSeed, toStart } from './request.ts'
import { ownerOf, type RunServices } from './run-services.ts'
import { type StoredIds, type StoredStart, withStoredFiles } from './stored-start.ts'

interface Options {
  live: LiveRuns
  adoption: Adoption
  elsewhere: RunsElsewhere
  prepare: (prepared: Omit<PreparedRun, 'live' | 'children'>) => RunExecution
  replay: (claim: ClaimRecord, request: StartRun, ignored: readonly string[] | undefined) => Promise<RunHandle>
  /** The session's conversation has lost turns, and no run is about to answer in their place. */
  onTurnsReplaced: ((sessionId: string) => void) | undefined
}

/** Starts the runs that callers ask for. */
export function createStart(
  services: RunServices,
  { live, adoption, elsewhere, prepare, replay, onTurnsReplaced }: Options,
): (request: StartRun) => Promise<RunHandle> {
  const { store, registry, recorded, clock, bounds, peers } = services
  const check = ({ entityId }: StartRun) => {
    live.assertOpen()
    registry.get(entityId)
  }

  /** `over`: the run that has the request's key, which the new one takes over. */
  async function startStored(request: StoredStart, ids?: StoredIds, over?: string): Promise<RunHandle> {
    live.assertOpen()
    const runnable = registry.get(request.entityId)
    const { sessionId, state = null, strategy = 'enqueue', replaces, idempotency, mode, repeats } = request
    checkGiven(request, bounds)
    if (request.given !== undefined) checkCallersGiven(request.given, bounds)
    const { given, ignored } = takeGiven(request, runnable, services.clientInstructions)
    const tools = request.given?.client_tools ?? []
    if (tools.length > 0) await checkClientTools(tools, runnable, request.entityId, bounds)
    if (state !== null && sessionId !== undefined) checkMerged((await recorded.basis(sessionId)).state, state, bounds)
    const afterEarlier = async (earlier: ClaimRecord) =>
      (await mayTakeOver(services, live, earlier, idempotency))
        ? startStored(request, ids, earlier.run_id ?? undefined)
        : replay(earlier, request, ignored)
    // Before another run is refused or cancelled for it. Otherwise its commit finds the claim.
    if (idempotency !== undefined && over === undefined && (replaces !== undefined || mayDisturb(request))) {
      const earlier = await store.findClaim(idempotency.key)
      if (earlier !== undefined) return afterEarlier(earlier)
    }
    if (runnable.checkInput !== undefined) await checkInput(services, runnable, request)
    if (given?.output_schema !== undefined) await compileJsonSchema(given.output_schema, 'output_schema')
    if (replaces !== undefined) {
      if (sessionId === undefined) throw invalid('replaces needs the session_id of that run.', 'session_id')
      live.queues.assertRoom(sessionId, strategy)
      const key = over === undefined ? idempotency?.key : undefined
      const earlier = await prepareReplacement(services, sessionId, replaces, key)
      if (earlier !== undefined) return afterEarlier(earlier)
    }
    live.assertOpen()
    const run = createRun(
      {
        ...request,
        given,
        ...(ids && { runId: ids.run_id, sessionId: ids.session_id }),
        background: mode === 'background',
      },
      runnable,
      clock(),
    )
    live.queues.assertRoom(run.session_id, strategy)
    const execution = prepare({ run, runnable, mode, replaces, repeats, isFirst: sessionId === undefined })
    const others = replaces !== undefined && strategy === 'interrupt' ? live.queues.of(run.session_id) : []
    // A replaced run ends only after the mark is durable: otherwise its own end could bring back what it had replaced.
    const isFirst = live.queues.enter(execution, replaces === undefined ? strategy : 'enqueue')
    if (isFirst) {
      run.status = 'running'
      run.started_at = run.created_at
    }
    const session = sessionId === undefined || request.unknownSession === 'create' ? createSeed(run, request) : null
    const claim = idempotency === undefined ? null : { ...toClaim(idempotency, clock()), over }
    // An interrupting run that waits for others here takes their place.
    const mayWait = strategy === 'enqueue' || (strategy === 'interrupt' && isFirst)
    const whenBusy = peers !== undefined && mayWait ? 'queue' : undefined
    let superseded: readonly string[] = []
    const commit = () =>
      store.startRun(toStart(run, runnable, ownerOf(services), { session, state, claim, replaces, whenBusy }))
    const replace = async () => {
      const started = await commit()
      if ('superseded' in started) superseded = started.superseded ?? []
      return started
    }
    const beginning = isFirst ? beginningOf(request, runnable) : 'queued'
    const earlier = await live.admit(execution, replaces === undefined ? commit : replace, beginning)
    if (replaces !== undefined && earlier === undefined) {
      for (const runId of superseded) {
        const here = adoption.find(runId)
        if (here === undefined) await elsewhere.ask(runId, 'superseded')
        else here.cancel('superseded')
      }
      for (const other of others) other.cancel('superseded')
      execution.done.then(
        () => onTurnsReplaced?.(run.session_id),
        () => {},
      )
    }
    if (strategy === 'interrupt' && peers !== undefined && run.status === 'queued') await elsewhere.supersede(run)
    return earlier === undefined ? { ...ownHandle(execution, request), ignored } : afterEarlier(earlier)
  }

  /** Whether the start may end or be refused because of another run of its session, or probably has a run already. */
  function mayDisturb({ sessionId, strategy = 'enqueue', idempotency }: StoredStart): boolean {
    if (idempotency?.attempt === 'again') return true
    if (strategy === 'enqueue' || sessionId === undefined) return false
    return peers !== undefined || live.queues.of(sessionId).length > 0
  }

  /** Where other instances write too, only a session that this request makes is known to be free. */
  function beginningOf(request: StoredStart, runnable: Runnable): Beginning {
    const { sessionId, replaces, repeats } = request
    const isFree = peers === undefined || sessionId === undefined
    return isFree && beginsEarly(runnable, request) && replaces === undefined && repeats === undefined
      ? 'early'
      : 'durable'
  }
  return withStoredFiles(services, check, startStored)
}
