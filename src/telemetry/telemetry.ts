import type { Logger } from '../core/logger.ts'
import type { Run, RunRecord } from '../core/run.ts'
import type { SessionStore } from '../core/store.ts'
import type { Timers } from '../core/time.ts'
import type { RunPlace, RunTracing } from '../service/runs/run-services.ts'
import type { Runs } from '../service/services.ts'
import { type ExportNumbers, ExportQueue } from './export-queue.ts'
import { openExporter } from './package.ts'
import { createResource, type SpanExporter } from './readable-span.ts'
import { type EndedStretch, RecordedSpans } from './recorded-spans.ts'
import type { Sampler } from './sampling.ts'
import type { TelemetrySettings } from './settings.ts'
import { parseTraceparent, spanIdOfChildStep, spanIdOfRun, toTraceparent, traceIdOf } from './trace-context.ts'

const flushMs = 3_000

export interface TelemetryOptions {
  settings: TelemetrySettings
  sampler: Sampler
  store: Pick<SessionStore, 'findRun' | 'readEvents'>
  runs: () => Pick<Runs, 'trace'>
  /** Where the exporter's package is looked for. */
  root: string
  timers: Timers
  logger: Logger
}

/** Spans of runs over OTLP, made from the record once a run has ended or paused. */
export interface Telemetry extends RunTracing {
  readonly numbers: ExportNumbers
  /** Loads the exporter. Without its package it says so in the log, and nothing is exported. */
  open(): Promise<void>
  /** Runs whose process died. */
  interrupted(runs: readonly Pick<Run, 'run_id'>[]): void
  /** Sends what waits, for a few seconds at most. */
  close(): Promise<void>
}

export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { settings, sampler, store, runs, root, timers, logger } = options
  const spans = new RecordedSpans({
    store,
    runs,
    sampler,
    capture: settings.capture,
    maxCharacters: settings.maxCharacters,
    resource: createResource(settings.resource),
  })
  const queue = new ExportQueue<EndedStretch>({
    exporter: () => loading(),
    spansOf: (stretch) => spans.of(stretch),
    timers,
    logger,
  })
  let loaded: Promise<SpanExporter> | undefined
  let isMissing = false

  function loading(): Promise<SpanExporter> {
    loaded ??= settings.exporter === undefined ? openExporter(settings, root) : Promise.resolve(settings.exporter)
    return loaded
  }

  return {
    numbers: queue.numbers,
    async open() {
      try {
        await loading()
      } catch (error) {
        isMissing = true
        logger.warn({ error }, 'no spans are exported')
      }
    },
    traceparent({ run_id }, { firstSeq, outermost }) {
      const given = parseTraceparent(outermost.given?.traceparent)
      const traceId = given?.traceId ?? traceIdOf(outermost.run_id)
      const isSampled = !isMissing && sampler(traceId, given)
      return toTraceparent({ traceId, spanId: spanIdOfRun(run_id, firstSeq), isSampled })
    },
    ended(run, place) {
      if (!isMissing) queue.offer(toStretch(run, place))
    },
    interrupted(all) {
      if (isMissing) return
      for (const { run_id } of all) queue.offer({ runId: run_id })
    },
    async close() {
      if (isMissing || loaded === undefined) return
      await queue.close(flushMs)
      const exporter = await loaded
      // It waits for requests that may hang.
      exporter.shutdown().catch((error: unknown) => logger.debug({ error }, 'the exporter did not close'))
    },
  }
}

/** Without the record, which may be large: a few fields, and the context that is found again by ids. */
function toStretch(run: RunRecord, { firstSeq, outer, outermost }: RunPlace): EndedStretch {
  const { run_id, session_id, entity_id, entity_kind, status, created_at, started_at } = run
  const { completed_at, cancellation_reason, error, cache_hit } = run
  return {
    runId: run_id,
    ended: {
      run: {
        run_id,
        session_id,
        entity_id,
        entity_kind,
        status,
        created_at,
        started_at,
        completed_at,
        cancellation_reason,
        error,
        cache_hit,
      },
      firstSeq,
      parentSpanId: outer && spanIdOfChildStep(run_id, outer.firstSeq),
      traceparent: outermost.given?.traceparent,
      outermostId: outermost.run_id,
    },
  }
}
