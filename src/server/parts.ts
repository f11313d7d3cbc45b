import type { ConfigParts } from '../config/parts.ts'
import { isRunnable, type Runnable } from '../core/runnable.ts'
import { offlineSummarizer, SummaryManager } from '../models/summarizer.ts'
import { agent } from '../runnables/agent/agent.ts'
import { isSdkAgent, toRunnable } from '../runnables/agent/host.ts'
import { type Defaults, withDefaults } from '../runnables/base/defaults.ts'
import { createMcpServers } from '../runnables/mcp/mcp.ts'

/** The parts of higher rooms that the configuration needs. */
export const configParts: ConfigParts = {
  toRunnable(value, kind, { id: _id, ...defaults }) {
    if (!isRunnable(value) && !isSdkAgent(value)) return undefined
    return withDefaults(toRunnable(isRunnable(value) ? value.kind : kind, value), defaults)
  },
  mcpServers: createMcpServers,
  agent: (settings) => agent(settings),
  summaryManager: () => ({ summarizer: offlineSummarizer(), timeoutMs: SummaryManager.defaultTimeoutMs }),
}

/** Turns an agent, team, workflow or AI SDK `Agent` into a runnable. */
export function toEntity(value: object, defaults: Defaults): Runnable {
  return withDefaults(isRunnable(value) ? value : toRunnable('agent', value), defaults)
}
