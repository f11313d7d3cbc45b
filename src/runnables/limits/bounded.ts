import { type Limits, runLimit, shownBytes } from '../../core/limits.ts'
import type { Emission } from '../../core/runnable.ts'
import { jsonSize } from '../../runtime/json-size.ts'

/** Limits that agents and teams enforce themselves, because nothing else sees their intermediate output. */
export type RunnableLimits = Pick<Limits, 'run' | 'toolResult' | 'fileBytes'>

export const noLimits: RunnableLimits = {
  run: {
    outputBytes: Infinity,
    events: Infinity,
    timeMs: Infinity,
    steps: Infinity,
    tokens: undefined,
    asks: Infinity,
    files: Infinity,
  },
  toolResult: { promptBytes: Infinity, recordBytes: Infinity },
  fileBytes: Infinity,
}

const eventsPerTick = 256

/** The same emissions, for a reader that holds them back. Throws `run_limit` above the run's limits. */
export async function* bounded<T extends Emission>(
  emissions: AsyncIterable<T>,
  { run }: RunnableLimits,
): AsyncGenerator<T> {
  let bytes = 0
  let events = 0
  for await (const emission of emissions) {
    bytes += bytesOf(emission)
    if (bytes > run.outputBytes) {
      throw runLimit('run.output', shownBytes(run.outputBytes), 'It emitted more text and data')
    }
    yield emission
    if (++events % eventsPerTick === 0) await new Promise((resolve) => setImmediate(resolve))
  }
}

function bytesOf(emission: Emission): number {
  if (typeof emission === 'string') return Buffer.byteLength(emission) || 1
  // It replaces the one before and is not kept.
  if (emission.type === 'data_delta') return 0
  if (emission.type === 'model_call_start' || emission.type === 'tool_result') return 1
  return 'text' in emission && typeof emission.text === 'string'
    ? Buffer.byteLength(emission.text) || 1
    : jsonSize(emission, Number.MAX_SAFE_INTEGER)
}
