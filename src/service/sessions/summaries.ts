import { AppError, isAppError, notFound } from '../../core/error.ts'
import type { Logger } from '../../core/logger.ts'
import { isWithheld } from '../../core/refusal.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Summarizer, Summary } from '../../core/summary.ts'
import type { Clock } from '../../core/time.ts'
import { timestamp } from '../../core/time.ts'
import { pause, within } from '../../runtime/abort.ts'
import type { Summaries } from '../services.ts'

const runLimit = 1000
/** A job that crashed the process each time is given up, so that it does not crash every start. */
const maxAttempts = 3
const takeUpAgainMs = 1_000
/** A summary is written again when a turn that it covers was replaced meanwhile. */
const maxRounds = 3

export interface SummariesOptions {
  store: SessionStore
  clock: Clock
  logger: Logger
  /** Undefined: summaries are not configured. */
  summarizer: Summarizer | undefined
  timeoutMs: number
}

export interface SummaryService extends Summaries {
  /** Runs the job of this session, if the store has one. */
  renew(sessionId: string): void
  /** Runs the jobs that an earlier process left. Those that another process is at work on stay its own. */
  recover(): Promise<void>
  /** The same in the background. */
  takeUp(): void
  /** Cancels running jobs (they stay scheduled) and waits for them. */
  close(): Promise<void>
}

export function createSummaries(options: SummariesOptions): SummaryService {
  const { store, clock, logger } = options
  const underWay = new Map<string, Promise<Summary>>()
  const scheduled = new Set<string>()
  /** What summarizers threw: it says nothing about the store. */
  const ofSummarizers = new WeakSet<AppError>()
  const closing = new AbortController()
  let worker: Promise<void> | undefined

  function assertConfigured(): Summarizer {
    if (options.summarizer !== undefined) return options.summarizer
    throw new AppError('summary_not_configured', 'No summary manager is configured. Set server.summaryManager.')
  }

  async function assertSession(sessionId: string): Promise<void> {
    if ((await store.findSession(sessionId)) === undefined) throw notFound('session', sessionId)
  }

  function join(sessionId: string): Promise<Summary> {
    const present = underWay.get(sessionId)
    if (present !== undefined) return present
    const job = summarize(sessionId).finally(() => underWay.delete(sessionId))
    underWay.set(sessionId, job)
    return job
  }

  async function summarize(sessionId: string): Promise<Summary> {
    for (let round = 1; round <= maxRounds; round++) {
      const summary = await summarizeOnce(sessionId)
      if (summary !== undefined) return summary
    }
    throw new AppError('summary_failed', 'Turns were replaced each time while the summary was written. Try it again.', {
      sessionId,
    })
  }

  /** Undefined: turns that it covers were replaced meanwhile. */
  async function summarizeOnce(sessionId: string): Promise<Summary | undefined> {
    const summarizer = assertConfigured()
    // Messages that come while the summary is written are not in it.
    const readAt = timestamp(clock())
    const history = await store.readHistory(sessionId, runLimit)
    const earlier = history.has_more ? await store.findSummary(sessionId) : undefined
    const messages = history.runs
      .filter((run) => run.status !== 'queued' && !isWithheld(run))
      .flatMap((run) => run.messages)
    const content = messages.length === 0 ? '' : await write(summarizer, messages, earlier?.content)
    const summary: Summary = {
      session_id: sessionId,
      content,
      model: summarizer.name,
      run_count: history.runs.length,
      message_count: messages.length,
      created_at: readAt,
    }
    return (await store.saveSummary(summary, history.runs.at(-1)?.run_id)) ? summary : undefined
  }

  async function write(summarizer: Summarizer, ...input: [Parameters<Summarizer['summarize']>[0], string | undefined]) {
    const ms = options.timeoutMs
    const late = () => new AppError('timeout', `The summary took longer than ${ms} ms (the summary manager's timeout).`)
    try {
      return await within((signal) => summarizer.summarize(...input, signal), { ms, late, signal: closing.signal })
    } catch (error) {
      if (isAppError(error)) {
        ofSummarizers.add(error)
        throw error
      }
      throw new AppError('summary_failed', "The summary could not be written. The server's log has the details.", {
        cause: error,
      })
    }
  }

  function work(): void {
    worker ??= (async () => {
      for (const sessionId of scheduled) {
        if (closing.signal.aborted) return
        scheduled.delete(sessionId)
        await runJob(sessionId)
      }
    })().finally(() => {
      worker = undefined
      if (scheduled.size > 0 && !closing.signal.aborted) work()
    })
  }

  async function runJob(sessionId: string): Promise<void> {
    try {
      const attempts = await store.beginSummaryJob(sessionId)
      if (attempts === 0) return
      if (attempts > maxAttempts)
        throw new AppError('summary_failed', `It was begun ${maxAttempts} times and never ended.`)
      await join(sessionId)
    } catch (error) {
      if (closing.signal.aborted) return putBack(sessionId)
      if (wasDeleted(error)) return
      if (isAppError(error) && isAway(error) && !ofSummarizers.has(error)) return postpone(sessionId)
      logger.error({ error, session_id: sessionId }, 'a summary failed; the earlier one is kept')
      await store
        .dropSummaryJob(sessionId)
        .catch((failure: unknown) => logger.error({ error: failure }, 'a summary job could not be deleted'))
    }
  }

  /** Until the store is there again: the attempt was none. */
  async function postpone(sessionId: string): Promise<void> {
    const { signal } = closing
    while (!signal.aborted) {
      await pause(takeUpAgainMs, signal).catch(() => {})
      try {
        if (!signal.aborted) await store.scheduleSummary(sessionId, timestamp(clock()))
        scheduled.add(sessionId)
        return
      } catch (error) {
        if (isAppError(error) && isAway(error)) continue
        if (!wasDeleted(error)) logger.error({ error }, 'a summary job was lost')
        return
      }
    }
  }

  async function recover(): Promise<void> {
    if (options.summarizer === undefined || closing.signal.aborted) return
    for (const sessionId of await store.listSummaryJobs()) scheduled.add(sessionId)
    work()
  }

  async function takeUp(): Promise<void> {
    const { signal } = closing
    while (!signal.aborted) {
      try {
        return await recover()
      } catch (error) {
        if (signal.aborted) return
        logger.warn({ error }, 'left summary jobs could not be read; it is tried again')
      }
      await pause(takeUpAgainMs, signal).catch(() => {})
    }
  }

  /** A job that a shutdown ended counts as not begun. */
  async function putBack(sessionId: string): Promise<void> {
    await store.scheduleSummary(sessionId, timestamp(clock())).catch((error: unknown) => {
      if (wasDeleted(error)) return
      logger.error({ error }, 'a summary job could not be reset after a shutdown; its interrupted attempt counts')
    })
  }

  return {
    async get(sessionId) {
      const summary = await store.findSummary(sessionId)
      if (summary !== undefined) return summary
      await assertSession(sessionId)
      throw noSummary(sessionId)
    },
    async schedule(sessionId) {
      await assertSession(sessionId)
      assertConfigured()
      await store.scheduleSummary(sessionId, timestamp(clock()))
      scheduled.add(sessionId)
      work()
    },
    async generate(sessionId) {
      await assertSession(sessionId)
      assertConfigured()
      return join(sessionId)
    },
    renew(sessionId) {
      if (options.summarizer === undefined || closing.signal.aborted) return
      scheduled.add(sessionId)
      work()
    },
    recover,
    takeUp() {
      void takeUp()
    },
    async close() {
      closing.abort(new AppError('unavailable', 'The server is shutting down.'))
      await Promise.allSettled([worker, ...underWay.values()])
    },
  }
}

/** The store can't write now: it is not there, or its disk is full. */
function isAway({ code }: AppError): boolean {
  return code === 'unavailable' || code === 'storage_full'
}

/** A session takes its job with it. */
function wasDeleted(error: unknown): boolean {
  return isAppError(error) && error.code === 'session_not_found'
}

export function noSummary(sessionId: string): AppError {
  return new AppError('summary_not_found', `There is no summary of session '${sessionId}' yet.`, { sessionId })
}
