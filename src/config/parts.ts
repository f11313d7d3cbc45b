import type { Limits } from '../core/limits.ts'
import type { ModelSetting } from '../core/model.ts'
import type { EntityKind } from '../core/run.ts'
import type { Runnable } from '../core/runnable.ts'
import type { TestDoubles } from '../runnables/base/defaults.ts'
import type { McpServers } from '../runnables/mcp/mcp.ts'
import type { SummaryManagerLike } from './settings/server.ts'

/** What the configuration needs of the rooms above it; the composition root passes it in. */
export interface ConfigParts {
  /**
   * An entry of `agents`, `teams` or `workflows` as something that runs, bound to the config's model and folder; undefined
   * for what is neither ours nor an AI SDK `Agent`. May throw an AppError about a setting of the entry.
   */
  toRunnable(value: object, kind: EntityKind, binding: EntityBinding): Runnable | undefined
  /**
   * The MCP servers of a config, none of them started, held to messages of so many bytes; what their tools say is kept in
   * `dataFolder`. Throws an AppError about a setting.
   */
  mcpServers(
    named: Readonly<Record<string, unknown>>,
    root: string,
    messageBytes: number,
    dataFolder?: string,
  ): McpServers
  /** Makes an agent of its settings, for the config that is served when there is no file. */
  agent(settings: BuiltInAgent): Runnable<'agent'>
  /** The summariser of a program that configures none. */
  summaryManager(): SummaryManagerLike
}

export interface EntityBinding {
  id: string
  model: ModelSetting | undefined
  root: string
  mcp: McpServers
  testDoubles: TestDoubles | undefined
  limits: Limits
}

export interface BuiltInAgent {
  description: string
  instructions?: string
  knowledge?: { limit: number; mode: 'first' }
  sideEffects?: false
  run?: (context: { text: string }) => AsyncIterable<string>
}
