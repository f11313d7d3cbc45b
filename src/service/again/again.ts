import type { AgainEdit } from '../../core/again/again.ts'
import { type AgainPlan, planAgain } from '../../core/again/plan.ts'
import { AppError, invalid, notFound } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import type { GivenPart, Part } from '../../core/message.ts'
import { isWithheld } from '../../core/refusal.ts'
import { type AgainOf, isEnded, isTry, type RunGiven, type RunRecord } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { SessionStore } from '../../core/store.ts'
import { RunFiles } from '../files/run-files.ts'
import type { RunBounds } from '../limits/run-budget.ts'
import type { Repeats } from '../repeating/context.ts'
import type { RunService } from '../runs/runs.ts'
import type { Registry, Services, Sessions } from '../services.ts'
import { checkAgain, checkPlan } from './check.ts'
import type { AgainRequest, StartedRun } from './request.ts'

interface AgainServices {
  store: SessionStore
  registry: Registry
  runs: RunService
  sessions: Sessions
  bounds: RunBounds
}

/** A run that is about to be repeated. */
interface Repetition {
  run: RunRecord
  runnable: Runnable
  againOf: AgainOf
  repeats: () => Repeats
  input: GivenPart[] | undefined
  given: RunGiven | undefined
}

export function createAgain({ store, registry, runs, sessions, bounds }: AgainServices): Services['again'] {
  return async (runId, request) => {
    const run = await runs.get(runId)
    assertRepeatable(run)
    const runnable = registry.get(run.entity_id)
    if (runnable.kind !== run.entity_kind) throw notFound('agent', run.entity_id)
    checkAgain(run, runnable, request)
    const plan = request.from === undefined ? undefined : await planOf(run, request.from)
    checkPlan(plan, request.edit)
    const repetition = toRepetition(run, runnable, request, plan)
    const started: StartedRun[] = []
    try {
      for (let count = 0; count < request.times; count++) started.push(await start(repetition))
    } catch (error) {
      for (const { run_id } of started) await runs.cancel(run_id).catch(() => {})
      throw error
    }
    return started
  }

  async function planOf(run: RunRecord, from: number): Promise<AgainPlan> {
    const events: RunEvent[] = []
    const recorded = runs.withPrompts(run.run_id, await runs.events(run.run_id, 0))
    for await (const batch of recorded) events.push(...batch)
    return planAgain(events, from, run.entity_kind)
  }

  async function start(repetition: Repetition): Promise<StartedRun> {
    const { run, againOf, repeats, runnable, given, input } = repetition
    if (againOf.keep === 'no') {
      return idsOf(await runs.startTry({ of: run, againOf, repeats: repeats(), runnable, input, given }))
    }
    return againOf.keep === 'replace' ? replace(repetition) : fork(repetition)
  }

  function replace({ run, againOf, repeats, given, input }: Repetition): Promise<StartedRun> {
    const parts = input ?? run.messages[0]?.parts ?? []
    const kept = { ...repeats(), keepsInput: input === undefined }
    const place = { sessionId: run.session_id, replaces: run.run_id }
    return startTurn({ run, againOf, given, parts, repeats: kept, ...place })
  }

  async function fork({ run, againOf, repeats, given, input }: Repetition): Promise<StartedRun> {
    const turn = isTry(run) ? await turnOf(run) : run.run_id
    const parts = input ?? (await uploads(run))
    const { session } = await sessions.fork(run.session_id, { beforeRunId: turn })
    const { session_id: sessionId } = session
    try {
      return await startTurn({ run, againOf, given, parts, repeats: repeats(), sessionId })
    } catch (error) {
      await sessions.delete(sessionId)
      throw error
    }
  }

  async function startTurn(turn: {
    run: RunRecord
    againOf: AgainOf
    given: RunGiven | undefined
    parts: GivenPart[]
    repeats: Repeats
    sessionId: string
    replaces?: string
  }): Promise<StartedRun> {
    const { run, ...rest } = turn
    const about = { userId: run.user_id ?? undefined, metadata: run.metadata ?? undefined }
    const handle = await runs.start({
      ...rest,
      ...about,
      entityId: run.entity_id,
      unknownSession: 'refuse',
      mode: 'background',
    })
    return idsOf(handle)
  }

  async function turnOf(run: RunRecord): Promise<string> {
    const of = run.again_of
    return of?.keep === 'no' ? turnOf(await runs.get(of.run_id)) : run.run_id
  }

  /** The input with the contents of its files, for another session. */
  async function uploads(run: RunRecord): Promise<GivenPart[]> {
    const files = new RunFiles(store, bounds, run)
    const read = async (part: Part): Promise<GivenPart> => {
      if (part.type !== 'file' || part.file_id === undefined) return part
      const { media_type, name } = part
      return { type: 'file', media_type, ...(name !== undefined && { name }), data: await files.read(part) }
    }
    return Promise.all((run.messages[0]?.parts ?? []).map(read))
  }
}

function toRepetition(
  run: RunRecord,
  runnable: Runnable,
  { edit, after, keep }: AgainRequest,
  plan: AgainPlan | undefined,
): Repetition {
  const { input, ...kept } = withInstructions(edit ?? {})
  const { edit: _edit, protocol: _protocol, traceparent: _traceparent, ...same }: RunGiven = run.given ?? {}
  const given: RunGiven = same
  if (Object.keys(kept).length > 0) given.edit = kept as JsonObject
  if (keep === 'fork' && hasFiles([plan?.repeated, given.history])) {
    throw invalid('The record has files before this event, which a fork can not take over. Use another `keep`.', 'keep')
  }
  return {
    run,
    runnable,
    againOf: { run_id: run.run_id, from: plan?.from ?? null, after, keep },
    // Each run has its own.
    repeats: () => ({ again: { after, edit: kept, start: plan?.start }, plan }),
    input: typeof input === 'string' ? [{ type: 'text', text: input }] : input,
    given: Object.keys(given).length === 0 ? undefined : given,
  }
}

/** The system messages of edited messages are the instructions of all calls. */
function withInstructions(edit: AgainEdit): AgainEdit {
  const system = (edit.messages ?? []).filter(({ role }) => role === 'system')
  if (edit.instructions !== undefined || system.length === 0) return edit
  const texts = system.map(({ content }) => (typeof content === 'string' ? content : ''))
  return { ...edit, instructions: texts.join('\n\n') }
}

function hasFiles(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { file_id?: unknown }).file_id === 'string' || Object.values(value).some(hasFiles)
}

function idsOf({ runId, sessionId }: { runId: string; sessionId: string }): StartedRun {
  return { run_id: runId, session_id: sessionId }
}

function assertRepeatable(run: RunRecord): void {
  const about = { runId: run.run_id, sessionId: run.session_id }
  if (run.parent_run_id !== null) {
    const message = `It is a part of the run '${run.parent_run_id}'. Repeat that run, from the step of this one.`
    throw new AppError('invalid_request', message, about)
  }
  if (!isEnded(run.status)) {
    throw new AppError('conflict', `The run has not ended: ${run.status}. Wait until it has, or cancel it.`, about)
  }
  if (isWithheld(run) || (run.messages[0]?.parts.length ?? 0) === 0) {
    throw new AppError(
      'conflict',
      'The input of the run is not in the record any more, so nothing can be repeated.',
      about,
    )
  }
}
