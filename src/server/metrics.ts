import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { RunRecord } from '../core/run.ts'
import type { WriteNumbers } from '../core/store.ts'
import type { RequestRecord } from '../http/options.ts'
import type { PeersState } from '../service/peers/peers.ts'
import type { ExportNumbers } from '../telemetry/export-queue.ts'

/*
 * Counters in the text format of Prometheus (version 0.0.4). Not a library, because every request uses them: two map
 * look-ups and a few additions.
 */

export interface Metrics {
  countRequest(record: RequestRecord): void
  countRun(run: RunRecord): void
  print(now?: CurrentNumbers): string
}

/** Undefined: this server is alone on its store, or the store does not count. */
export interface CurrentNumbers {
  peers: PeersState | undefined
  writes: WriteNumbers | undefined
  /** Undefined without telemetry. */
  spans: ExportNumbers | undefined
}

const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const runSeconds = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

export function createMetrics({ version, startedAtMs }: { version: string; startedAtMs: number }): Metrics {
  const requests = new Counter('agentserve_http_requests_total', 'Answered requests by route and status.')
  const requestTimes = new Histogram(
    'agentserve_http_request_duration_seconds',
    'Time from the first line of a request to the end of its answer.',
    requestSeconds,
  )
  const runs = new Counter('agentserve_runs_total', 'Ended or paused runs by entity and status.')
  const runTimes = new Histogram(
    'agentserve_run_duration_seconds',
    'Time from the start of a run to its end.',
    runSeconds,
  )
  const tokens = new Counter('agentserve_tokens_total', 'Tokens reported by models, by entity and direction.')
  const cacheHits = new Counter('agentserve_cache_hits_total', 'Runs answered from the response cache.')
  let loopDelay: ReturnType<typeof monitorEventLoopDelay> | undefined

  function printProcess(): string[] {
    if (loopDelay === undefined) {
      // Starts with the first scrape: a server without scrapes needs no timer.
      loopDelay = monitorEventLoopDelay({ resolution: 20 })
      loopDelay.enable()
    }
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    const [delay, longest] = [loopDelay.percentile(99) / 1e9, loopDelay.max / 1e9]
    loopDelay.reset()
    return [
      ...gauge('agentserve_build_info', 'The running version of agentserve.', 1, `{version="${version}"}`),
      ...gauge('process_start_time_seconds', 'Start time of the process in seconds since 1970.', startedAtMs / 1000),
      ...total('process_cpu_seconds_total', 'CPU time of the process in seconds.', (user + system) / 1e6),
      ...gauge('process_resident_memory_bytes', 'Resident memory of the process in bytes.', rss),
      ...gauge('nodejs_heap_size_used_bytes', 'Used JavaScript heap in bytes.', heapUsed),
      ...gauge(
        'nodejs_eventloop_lag_p99_seconds',
        '99th percentile of the event loop delay since the last scrape.',
        delay,
      ),
      ...gauge('nodejs_eventloop_lag_max_seconds', 'Maximum event loop delay since the last scrape.', longest),
    ]
  }

  return {
    countRequest({ method, route = 'none', status, durationMs }) {
      requests.add(`{method="${method}",route="${escapeLabel(route)}",status="${status}"}`, 1)
      requestTimes.observe(`route="${escapeLabel(route)}"`, durationMs / 1000)
    },
    countRun({ entity_id, status, usage, cache_hit, started_at, completed_at }) {
      const entity = escapeLabel(entity_id)
      runs.add(`{entity="${entity}",status="${status}"}`, 1)
      if (cache_hit) cacheHits.add(`{entity="${entity}"}`, 1)
      if (usage !== null) {
        tokens.add(`{entity="${entity}",direction="input"}`, usage.input_tokens ?? 0)
        tokens.add(`{entity="${entity}",direction="output"}`, usage.output_tokens ?? 0)
      }
      if (started_at === null || completed_at === null) return
      runTimes.observe(`entity="${entity}"`, (Date.parse(completed_at) - Date.parse(started_at)) / 1000)
    },
    print({ peers, writes, spans } = { peers: undefined, writes: undefined, spans: undefined }) {
      const all = [requests, requestTimes, runs, runTimes, tokens, cacheHits].flatMap((metric) => metric.print())
      return `${[...all, ...printProcess(), ...printPeers(peers), ...printWrites(writes), ...printSpans(spans)].join('\n')}\n`
    },
  }
}

function printPeers(state: PeersState | undefined): string[] {
  if (state === undefined) return []
  const { lease, ageMs, peers, tails, wakes, takenOver, oldestTransactionSeconds: oldest } = state
  const seconds = ageMs === undefined ? Number.POSITIVE_INFINITY : ageMs / 1000
  return [
    ...gauge(
      'agentserve_lease_age_seconds',
      'Time since the store confirmed that this server is alive.',
      number(seconds),
    ),
    ...gauge(
      'agentserve_lease_fresh',
      'Whether this server may accept work: 1, or 0 while it holds still.',
      lease === 'fresh' ? 1 : 0,
    ),
    ...gauge('agentserve_peers', 'Other servers on the same store.', peers.length),
    ...gauge('agentserve_tails', 'Runs of other servers that are followed for readers here.', tails),
    ...total('agentserve_wakes_total', 'Wake-ups from other servers.', wakes),
    ...total('agentserve_takeovers_total', 'Runs taken over from servers that are gone.', takenOver),
    ...(oldest === undefined
      ? []
      : gauge(
          'agentserve_pg_oldest_xmin_seconds',
          'Age of the oldest transaction that keeps Postgres from removing dead rows.',
          oldest,
        )),
  ]
}

function printWrites(numbers: WriteNumbers | undefined): string[] {
  if (numbers === undefined) return []
  const { commits, writes, commitMs } = numbers
  return [
    ...total('agentserve_store_commits_total', 'Groups of writes that the store confirmed.', commits),
    ...total('agentserve_store_writes_total', 'Writes in these groups.', writes),
    ...total('agentserve_store_commit_seconds_total', 'Time until the store confirmed them.', commitMs / 1000),
  ]
}

function printSpans(numbers: ExportNumbers | undefined): string[] {
  if (numbers === undefined) return []
  const { exported, failed, droppedRuns } = numbers
  return [
    ...total('agentserve_spans_exported_total', 'Spans that the collector took.', exported),
    ...total('agentserve_spans_failed_total', 'Spans that the collector did not take.', failed),
    ...total('agentserve_span_runs_dropped_total', 'Runs whose spans were never made.', droppedRuns),
  ]
}

class Counter {
  readonly #name: string
  readonly #help: string
  readonly #values = new Map<string, number>()

  constructor(name: string, help: string) {
    this.#name = name
    this.#help = help
  }

  /** `labels` in braces, as printed. */
  add(labels: string, amount: number): void {
    this.#values.set(labels, (this.#values.get(labels) ?? 0) + amount)
  }

  print(): string[] {
    const lines = [...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}`)
    return [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} counter`, ...lines]
  }
}

interface Observed {
  /** Observations per bucket, not cumulative; the last one is above all bounds. */
  counts: number[]
  sum: number
}

class Histogram {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #observed = new Map<string, Observed>()

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name
    this.#help = help
    this.#bounds = bounds
  }

  /** `labels` without braces, as printed. */
  observe(labels: string, seconds: number): void {
    let observed = this.#observed.get(labels)
    if (observed === undefined) {
      observed = { counts: new Array(this.#bounds.length + 1).fill(0), sum: 0 }
      this.#observed.set(labels, observed)
    }
    let place = 0
    while (seconds > (this.#bounds[place] ?? Number.POSITIVE_INFINITY)) place++
    observed.counts[place] = (observed.counts[place] ?? 0) + 1
    observed.sum += seconds
  }

  print(): string[] {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} histogram`]
    for (const [labels, { counts, sum }] of this.#observed) {
      let total = 0
      for (const [place, count] of counts.entries()) {
        total += count
        lines.push(`${this.#name}_bucket{${labels},le="${this.#bounds[place] ?? '+Inf'}"} ${total}`)
      }
      lines.push(`${this.#name}_sum{${labels}} ${sum}`, `${this.#name}_count{${labels}} ${total}`)
    }
    return lines
  }
}

function gauge(name: string, help: string, value: number | string, labels = ''): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name}${labels} ${value}`]
}

function total(name: string, help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, `${name} ${value}`]
}

/** In the words of the format. */
function number(value: number): string {
  return Number.isFinite(value) ? String(value) : '+Inf'
}

function escapeLabel(value: string): string {
  return /["\\\n]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value
}
