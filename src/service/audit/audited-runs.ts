import type { AuditObject } from '../../core/access/audit.ts'
import type { JsonObject } from '../../core/json.ts'
import type { ResumeAnswer, Runs, StartRun } from '../services.ts'
import type { Act } from './audit.ts'

/** Does the work, and writes the act with its outcome into the log. */
type DoAct = <T>(act: Act, work: () => Promise<T>, detailOf?: (result: T) => JsonObject) => Promise<T>

/** The runs of one request. What it does to runs that are there goes into the audit log; starting one is no act. */
export class AuditedRuns implements Runs {
  readonly #own: Runs
  readonly #act: DoAct

  constructor(own: Runs, act: DoAct) {
    this.#own = own
    this.#act = act
  }

  start(options: StartRun): ReturnType<Runs['start']> {
    const { replaces } = options
    if (replaces === undefined) return this.#own.start(options)
    return this.#act(
      { action: 'run.replace', object: run(replaces) },
      () => this.#own.start(options),
      ({ runId }) => ({ run_id: runId }),
    )
  }

  cancel(runId: string, reason?: string): ReturnType<Runs['cancel']> {
    // The caller's own words are contents.
    const detail = reason === 'client_disconnected' ? { reason } : undefined
    return this.#act({ action: 'run.cancel', object: run(runId), detail }, () => this.#own.cancel(runId, reason))
  }

  restore(runId: string): ReturnType<Runs['restore']> {
    return this.#act({ action: 'run.restore', object: run(runId) }, () => this.#own.restore(runId))
  }

  resume(runId: string, answer: ResumeAnswer): ReturnType<Runs['resume']> {
    return this.#act({ action: 'run.resume', object: run(runId), detail: decisionsOf(answer) }, () =>
      this.#own.resume(runId, answer),
    )
  }

  get(runId: string): ReturnType<Runs['get']> {
    return this.#own.get(runId)
  }

  head(runId: string): ReturnType<Runs['head']> {
    return this.#own.head(runId)
  }

  list(...given: Parameters<Runs['list']>): ReturnType<Runs['list']> {
    return this.#own.list(...given)
  }

  events(...given: Parameters<Runs['events']>): ReturnType<Runs['events']> {
    return this.#own.events(...given)
  }

  recordedEvents(...given: Parameters<Runs['recordedEvents']>): ReturnType<Runs['recordedEvents']> {
    return this.#own.recordedEvents(...given)
  }

  withPrompts(...given: Parameters<Runs['withPrompts']>): ReturnType<Runs['withPrompts']> {
    return this.#own.withPrompts(...given)
  }

  trace(...given: Parameters<Runs['trace']>): ReturnType<Runs['trace']> {
    return this.#own.trace(...given)
  }
}

export const run = (id: string): AuditObject => ({ kind: 'run', id })

/** What was decided, not what was said. */
function decisionsOf({ approved, answers }: ResumeAnswer): JsonObject {
  const all = [
    ...(typeof approved === 'boolean' ? [approved] : Object.values(approved ?? {})),
    ...Object.values(answers ?? {}).flatMap((answer) => answer.approved ?? []),
  ]
  return all.length === 0 ? {} : { approved: all.filter(Boolean).length, denied: all.filter((one) => !one).length }
}
