import { streamText } from 'ai'
import { silentLogger } from '../src/core/logger.ts'
import type { RunContext } from '../src/core/runnable.ts'
import { agent } from '../src/runnables/agent/agent.ts'
import { type Model, scriptedModel } from './scripted-model.ts'

/*
 * What `agent()` adds to the AI SDK's `streamText`, with a model that answers at once from memory: CPU a run and time to the
 * first fragment, in turns in one process, so that ratios count. Run it on a quiet machine: `node bench/agent-cost.ts`.
 */

const rounds = 15
const runsOf: Record<number, number> = { 1: 300, 100: 100, 1000: 15 }

const instructions = 'Be kind.'
const text = 'Say something.'
const context = {
  runId: 'run_1',
  sessionId: 'ses_1',
  entityId: 'a',
  userId: null,
  metadata: {},
  state: {},
  logger: silentLogger,
  history: async () => [],
  summary: async () => undefined,
} as unknown as RunContext

/** One run to its end; gives the milliseconds until its first fragment. */
type Run = () => Promise<number>

function bare(model: Model): Run {
  return async () => {
    const startedAt = performance.now()
    let first = 0
    const abortSignal = new AbortController().signal
    const { fullStream } = streamText({ model, instructions, messages: [{ role: 'user', content: text }], abortSignal })
    for await (const part of fullStream) if (part.type === 'text-delta' && first === 0) first = performance.now()
    return first - startedAt
  }
}

function throughAgent(model: Model): Run {
  const entity = agent({ model, instructions })
  return async () => {
    const startedAt = performance.now()
    let first = 0
    const signal = new AbortController().signal
    const events = entity.run({ text, parts: [{ type: 'text', text }] }, { ...context, signal })
    for await (const event of events) {
      if (first === 0 && (typeof event === 'string' || event.type === 'text_delta')) first = performance.now()
    }
    return first - startedAt
  }
}

async function measure(run: Run, count: number) {
  const firsts: number[] = []
  const before = process.cpuUsage()
  for (let index = 0; index < count; index++) firsts.push(await run())
  const { user, system } = process.cpuUsage(before)
  return { cpuMicroseconds: (user + system) / count, firstMs: median(firsts) }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

console.log(
  '| Fragments | streamText: CPU a run | agent(): CPU a run | Ratio | streamText: first fragment | agent(): first fragment | Ratio |',
)
console.log('|---|---|---|---|---|---|---|')
for (const [fragments, count] of Object.entries(runsOf)) {
  const model = scriptedModel(Number(fragments))
  const sides = [bare(model), throughAgent(model)]
  const measured: { cpuMicroseconds: number; firstMs: number }[][] = [[], []]
  for (const side of sides) await measure(side, count)
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) measured[index]?.push(await measure(side, count))
  }
  const [direct = [], through = []] = measured
  const cpu = [direct, through].map((all) => median(all.map(({ cpuMicroseconds }) => cpuMicroseconds)))
  const first = [direct, through].map((all) => median(all.map(({ firstMs }) => firstMs)))
  const ratioOf = (values: { cpuMicroseconds: number; firstMs: number }[][], key: 'cpuMicroseconds' | 'firstMs') =>
    median((values[0] ?? []).map((value, round) => (values[1]?.[round]?.[key] ?? 0) / value[key])).toFixed(2)
  const microseconds = (value: number | undefined) => `${Math.round(value ?? 0)} µs`
  const row = [
    fragments,
    microseconds(cpu[0]),
    microseconds(cpu[1]),
    ratioOf(measured, 'cpuMicroseconds'),
    microseconds((first[0] ?? 0) * 1000),
    microseconds((first[1] ?? 0) * 1000),
    ratioOf(measured, 'firstMs'),
  ]
  console.log(`| ${row.join(' | ')} |`)
}
