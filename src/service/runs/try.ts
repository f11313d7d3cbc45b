import { createId } from '../../core/id.ts'
import type { GivenPart, Part } from '../../core/message.ts'
import type { AgainOf, RunGiven, RunRecord } from '../../core/run.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { Children } from '../execution/options.ts'
import { saveFiles } from '../files/input.ts'
import type { Repeats } from '../repeating/context.ts'
import type { RunHandle } from '../services.ts'
import { checkInput } from './given.ts'
import { liveHandle } from './handle.ts'
import type { LiveRuns } from './live.ts'
import { prepareExecution } from './prepare.ts'
import { createRun, toStart } from './request.ts'
import { ownerOf, type RunServices } from './run-services.ts'

export interface TryRequest {
  of: RunRecord
  againOf: AgainOf
  repeats: Repeats
  runnable: Runnable
  /** A new input; absent: that of the run. */
  input?: GivenPart[] | undefined
  given: RunGiven | undefined
}

/** A run of the same session that takes no turn: it waits for no other run, and nothing waits for it. */
export async function startTry(
  services: RunServices,
  { live, children }: { live: LiveRuns; children: Children },
  { of, againOf, repeats, runnable, input, given }: TryRequest,
): Promise<RunHandle> {
  const { store, bounds, clock } = services
  live.assertOpen()
  const now = clock()
  const ids = { run_id: createId('run', now), session_id: of.session_id }
  let begun = false
  try {
    const parts: Part[] =
      input === undefined
        ? (of.messages[0]?.parts ?? [])
        : (await saveFiles(store, bounds, { parts: input }, ids)).parts
    if (input !== undefined && runnable.checkInput !== undefined) await checkInput(services, runnable, { parts, given })
    const { entity_id: entityId, user_id: userId, metadata } = of
    const about = { runId: ids.run_id, sessionId: of.session_id, entityId, userId, metadata }
    const run = createRun({ ...about, parts, given, againOf, background: true }, runnable, now)
    run.status = 'running'
    run.started_at = run.created_at
    const execution = prepareExecution(services, { run, runnable, mode: 'background', live, children, repeats })
    await live.admit(execution, () => store.startRun(toStart(run, runnable, ownerOf(services))), 'durable')
    begun = true
    return liveHandle(execution)
  } finally {
    if (!begun && input !== undefined) await store.dropFiles(ids.run_id)
  }
}
