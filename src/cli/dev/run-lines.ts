import type { RunRecord } from '../../core/run.ts'
import { createSerial } from '../../runtime/serial.ts'
import type { OpenServer } from '../../server.ts'
import { between, formatRun, type LineStyle, type RunFacts, type RunFailures } from '../runs/line.ts'
import { limitLines } from '../terminal/line-limit.ts'

type Services = Pick<OpenServer['services'], 'runs' | 'costs'>

const linesPerSecond = 10
/** Only this many events of a run are read. */
const eventLimit = 5_000

export interface RunLines {
  /** Call when a run has ended. Above the limit, runs are only counted. */
  show(run: RunRecord, failures?: RunFailures): void
  /** Prints after the lines of the runs that ended before. */
  after(print: () => void): void
  close(): Promise<void>
}

/** Prints one line per ended run, in order, at a rate that a person can read. */
export function createRunLines(
  services: () => Services,
  print: (text: string) => void,
  style: () => LineStyle,
): RunLines {
  const printing = createSerial()
  const limit = limitLines(linesPerSecond, (counts) => {
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
    const each = [...counts].map(([status, count]) => `${count} ${status}`).join(', ')
    after(() => print(`… and ${all} more: ${each}`))
  })
  function after(work: () => void | Promise<void>): void {
    void printing.run(work)
  }
  return {
    show(run, failures) {
      if (!limit.take(run.status)) return
      after(async () => {
        // A closing server rejects reads; the line is printed without the facts.
        const facts = await readFacts(services().runs, run).catch(() => noFacts)
        print(formatRun(run, { ...facts, failures, cost: services().costs.ofRun(run) }, style()))
      })
    },
    after,
    async close() {
      limit.close()
      await printing.idle()
    },
  }
}

type Told = Omit<RunFacts, 'cost' | 'failures'>

const noFacts: Told = {
  firstTokenMs: undefined,
  tools: new Map(),
  denied: 0,
  searches: { count: 0, ms: undefined },
  toolErrors: [],
}

async function readFacts(runs: Services['runs'], run: RunRecord): Promise<Told> {
  const tools = new Map<string, number>()
  const toolErrors: string[] = []
  const searches: RunFacts['searches'] = { count: 0, ms: undefined }
  let denied = 0
  let firstTokenMs: number | undefined
  let count = 0
  for await (const events of await runs.events(run.run_id, 0)) {
    for (const event of events) {
      if (event.type === 'text_delta') firstTokenMs ??= between(run.started_at ?? run.created_at, event.at)
      else if (event.type === 'tool_call') tools.set(event.name, (tools.get(event.name) ?? 0) + 1)
      else if (event.type === 'retrieval') {
        searches.count++
        if (event.duration_ms !== undefined) searches.ms = (searches.ms ?? 0) + event.duration_ms
      } else if (event.type === 'tool_result' && event.denied) denied++
      else if (event.type === 'tool_result' && event.error) toolErrors.push(`${event.name}: ${event.error.message}`)
    }
    count += events.length
    if (count >= eventLimit) break
  }
  return { firstTokenMs, tools, denied, searches, toolErrors }
}
