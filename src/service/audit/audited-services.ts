import type { Actor, AuditObject } from '../../core/access/audit.ts'
import type { JsonObject } from '../../core/json.ts'
import type { IngestOutcome, Knowledge } from '../../core/knowledge/knowledge.ts'
import type { Notifications } from '../notifications/notifications.ts'
import type { Schedules } from '../schedules/schedules.ts'
import type { Facts, Runs, Services, Sessions, Users } from '../services.ts'
import { type Act, type Audit, codeOf } from './audit.ts'
import { AuditedRuns, run } from './audited-runs.ts'

/**
 * The services of one request, whose acts go into the audit log under its name. What no act belongs to is passed on as it is,
 * so that a run costs one object more.
 */
export class AuditedServices implements Services {
  readonly #own: Services
  readonly #audit: Audit
  readonly #actor: Actor

  constructor(own: Services, audit: Audit, actor: Actor) {
    this.#own = own
    this.#audit = audit
    this.#actor = actor
  }

  get registry() {
    return this.#own.registry
  }
  get bookmarks() {
    return this.#own.bookmarks
  }
  get costs() {
    return this.#own.costs
  }
  get summaries() {
    return this.#own.summaries
  }
  get audit() {
    return this.#own.audit
  }
  get once() {
    return this.#own.once
  }
  get logger() {
    return this.#own.logger
  }

  get runs(): Runs {
    return new AuditedRuns(this.#own.runs, (act, work, detailOf) => this.#act(act, work, detailOf))
  }

  get again(): Services['again'] {
    return (runId, request) => {
      const { keep } = request
      return this.#act(
        { action: 'run.again', object: run(runId), detail: { keep } },
        () => this.#own.again(runId, request),
        (started) => ({ keep, run_ids: started.map((one) => one.run_id) }),
      )
    }
  }

  get keep(): Services['keep'] {
    return (runId, as) =>
      this.#act(
        { action: 'run.keep', object: run(runId), detail: { keep: as } },
        () => this.#own.keep(runId, as),
        ({ run_id }) => ({ keep: as, run_id }),
      )
  }

  get sessions(): Sessions {
    const { sessions } = this.#own
    return {
      ...sessions,
      delete: (id) =>
        this.#act({ action: 'session.delete', object: session(id), frees: true }, () => sessions.delete(id)),
      update: (id, change, revision) =>
        this.#act({ action: 'session.update', object: session(id), detail: { fields: Object.keys(change) } }, () =>
          sessions.update(id, change, revision),
        ),
      fork: (id, fork) =>
        this.#act(
          { action: 'session.fork', object: session(id) },
          () => sessions.fork(id, fork),
          (made) => ({ session_id: made.session.session_id }),
        ),
      reuse: (id, owners) =>
        this.#act({ action: 'session.reuse', object: session(id) }, () => sessions.reuse(id, owners)),
      unshare: (id, kind, owner) =>
        this.#act({ action: 'session.unshare', object: session(id), detail: { kind } }, () =>
          sessions.unshare(id, kind, owner),
        ),
      export: (id, withEvents, part) =>
        this.#act({ action: 'session.export', object: session(id) }, () => sessions.export(id, withEvents, part)),
      import: (copy, options) =>
        this.#act(
          { action: 'session.import', object: session(copy.session.session_id) },
          () => sessions.import(copy, options),
          (made) => ({ session_id: made.session.session_id }),
        ),
      prune: (rule) => {
        const { user_id: userId, ...filter } = rule.filter
        const detail = { updated_before: rule.olderThan, ...given(filter) }
        return this.#act(
          { action: 'session.prune', object: userId === undefined ? undefined : user(userId), detail, frees: true },
          () => sessions.prune(rule),
          ({ deleted }) => ({ ...detail, deleted }),
        )
      },
    }
  }

  get users(): Users {
    const { users } = this.#own
    return {
      export: (userId) => this.#stream({ action: 'user.export', object: user(userId) }, () => users.export(userId)),
      erase: (userId) =>
        this.#act({ action: 'user.erase', object: user(userId), frees: true }, () => users.erase(userId)),
    }
  }

  get facts(): Facts {
    const { facts } = this.#own
    return {
      list: facts.list,
      delete: (userId, factId) =>
        this.#act({ action: 'facts.delete', object: user(userId), detail: { fact_id: factId } }, () =>
          facts.delete(userId, factId),
        ),
      deleteAll: (userId) =>
        this.#act(
          { action: 'facts.delete', object: user(userId) },
          () => facts.deleteAll(userId),
          (deleted) => ({ deleted }),
        ),
    }
  }

  get schedules(): Schedules {
    const { schedules } = this.#own
    return {
      list: () => schedules.list(),
      get: (name) => schedules.get(name),
      run: (name) =>
        this.#act(
          { action: 'schedule.run', object: schedule(name) },
          () => schedules.run(name),
          ({ runId }) => ({ run_id: runId }),
        ),
      pause: (name, paused) =>
        this.#act({ action: paused ? 'schedule.pause' : 'schedule.resume', object: schedule(name) }, () =>
          schedules.pause(name, paused),
        ),
    }
  }

  get notifications(): Notifications | undefined {
    const { notifications } = this.#own
    return (
      notifications && {
        check: (target) => notifications.check(target),
        list: (runId) => notifications.list(runId),
        set: (runId, target) =>
          this.#act({ action: 'push.set', object: run(runId) }, () => notifications.set(runId, target)),
        delete: (runId, id) =>
          this.#act({ action: 'push.delete', object: run(runId), detail: { config: id } }, () =>
            notifications.delete(runId, id),
          ),
      }
    )
  }

  get knowledge(): Knowledge | undefined {
    const { knowledge } = this.#own
    if (knowledge === undefined) return undefined
    const added = async (outcomes: readonly IngestOutcome[]) => {
      const changed = outcomes.filter(({ outcome }) => outcome === 'added' || outcome === 'replaced')
      if (changed.length > 0) await this.#added(changed.length, changed[0]?.document_id)
    }
    return {
      ...knowledge,
      ingest: async (...given) => {
        const result = await knowledge.ingest(...given)
        if (!result.unchanged) await this.#added(1, result.document_id)
        return result
      },
      ingestFile: async (...given) => {
        const outcome = await knowledge.ingestFile(...given)
        await added([outcome])
        return outcome
      },
      ingestMany: async (...given) => {
        const outcomes = await knowledge.ingestMany(...given)
        await added(outcomes)
        return outcomes
      },
      deleteDocument: (id) =>
        this.#act({ action: 'knowledge.delete', object: document(id), frees: true }, () =>
          knowledge.deleteDocument(id),
        ),
      reindex: (options) =>
        this.#act({ action: 'knowledge.reindex', detail: given({ embedder: options?.embedder }) }, () =>
          knowledge.reindex(options),
        ),
    }
  }

  get audited(): Services['audited'] {
    return (act, work) => this.#act(act, work)
  }

  get auditedStream(): Services['auditedStream'] {
    return (act, work) => this.#stream(act, work)
  }

  get backup(): Services['backup'] {
    return () => this.#stream({ action: 'backup' }, () => this.#own.backup())
  }

  #act<T>(act: Act, work: () => Promise<T>, detailOf?: (result: T) => JsonObject): Promise<T> {
    return this.#audit.act(this.#actor, act, work, detailOf)
  }

  /** Afterwards, and in one commit: what failed or was there already is not told. */
  #added(documents: number, first: string | null | undefined): Promise<void> {
    const object = documents === 1 && first ? document(first) : undefined
    return this.#audit.told(this.#actor, { action: 'knowledge.add', object, detail: { documents } })
  }

  /** The outcome is that of the last piece; `cut` when the reader has left before. */
  async *#stream<T>(act: Act, work: () => AsyncIterable<T>): AsyncGenerator<T> {
    const settle = await this.#audit.begin(this.#actor, act)
    let outcome = 'cut'
    try {
      yield* work()
      outcome = 'ok'
    } catch (error) {
      outcome = codeOf(error)
      throw error
    } finally {
      await settle(outcome)
    }
  }
}

const session = (id: string): AuditObject => ({ kind: 'session', id })
const user = (id: string): AuditObject => ({ kind: 'user', id })
const document = (id: string): AuditObject => ({ kind: 'document', id })
const schedule = (id: string): AuditObject => ({ kind: 'schedule', id })

/** Without what is undefined. */
function given(values: Record<string, string | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as JsonObject
}
