import { parseDuration } from '../../core/duration.ts'
import type { Limits } from '../../core/limits.ts'
import { fields, integer, is } from './check.ts'
import { defaults } from './defaults.ts'
import type { ServerLimits } from './limit-types.ts'
import { parseSize } from './size.ts'

const count = integer(1, Number.MAX_SAFE_INTEGER)
const size = is('bytes above 0, or a number with KB, MB or GB', (value) => (parseSize(value) ?? 0) > 0)
const time = is('a time above 0: milliseconds, or a number with ms, s, m, h or d', (value) => {
  return (parseDuration(value) ?? 0) > 0
})

/** Every key that `server.limits` may have. */
export const limitSettings = fields({
  connections: count,
  requests: count,
  requestsPerMinute: count,
  concurrentRuns: count,
  bodies: size,
  bodiesPerKey: size,
  importSize: size,
  run: fields({ output: size, events: count, time, steps: count, tokens: count }),
  toolResult: fields({ prompt: size, record: size }),
  metadata: size,
  state: size,
  mcpMessage: size,
})

/** Decides every limit; `given` has been checked. */
export function resolveLimits(given: ServerLimits = {}): Limits {
  const usual = defaults.limits
  const { run = {}, toolResult = {} } = given
  return {
    connections: given.connections ?? usual.connections,
    requests: given.requests ?? usual.requests,
    requestsPerMinute: given.requestsPerMinute ?? usual.requestsPerMinute,
    concurrentRuns: given.concurrentRuns ?? usual.concurrentRuns,
    bodiesBytes: parseSize(given.bodies) ?? usual.bodiesBytes,
    bodiesPerKeyBytes: parseSize(given.bodiesPerKey) ?? usual.bodiesPerKeyBytes,
    importBytes: parseSize(given.importSize) ?? usual.importBytes,
    run: {
      outputBytes: parseSize(run.output) ?? usual.run.outputBytes,
      events: run.events ?? usual.run.events,
      timeMs: parseDuration(run.time) ?? usual.run.timeMs,
      steps: run.steps ?? usual.run.steps,
      tokens: run.tokens ?? usual.run.tokens,
    },
    toolResult: {
      promptBytes: parseSize(toolResult.prompt) ?? usual.toolResult.promptBytes,
      recordBytes: parseSize(toolResult.record) ?? usual.toolResult.recordBytes,
    },
    metadataBytes: parseSize(given.metadata) ?? usual.metadataBytes,
    stateBytes: parseSize(given.state) ?? usual.stateBytes,
    mcpMessageBytes: parseSize(given.mcpMessage) ?? usual.mcpMessageBytes,
  }
}
