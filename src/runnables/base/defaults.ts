import type { ToolSet } from 'ai'
import type { ModelSetting } from '../../core/model.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { RunnableLimits } from '../limits/bounded.ts'
import type { McpServers } from '../mcp/mcp.ts'

/** What the config says for all entities. */
export interface Defaults {
  /** For agents without a model of their own. */
  model?: ModelSetting | undefined
  /** Folder of the user's project, where provider packages are looked for. */
  root?: string | undefined
  /** Where `mcp()` finds its servers. */
  mcp?: McpServers | undefined
  testDoubles?: TestDoubles | undefined
  limits?: RunnableLimits | undefined
}

/** What takes the place of agents' models and tools, in a test. */
export interface TestDoubles {
  /** Given the model that the agent would use. */
  model?(setting: ModelSetting | undefined): ModelSetting | undefined
  tools?(tools: ToolSet): ToolSet
}

const bind = Symbol.for('agentserve.bind')

/** Makes an entity configurable: `rebuild` gives the same entity with what the config says. */
export function configurable<T extends Runnable>(entity: T, rebuild: (defaults: Defaults) => Runnable): T {
  Object.defineProperty(entity, bind, { value: rebuild })
  return entity
}

/** The entity with the config-wide model and project folder in place; members of a team too. The entity given is unchanged. */
export function withDefaults(entity: Runnable, defaults: Defaults): Runnable {
  const rebuild = (entity as { [bind]?: (defaults: Defaults) => Runnable })[bind]
  return rebuild === undefined ? entity : rebuild(defaults)
}
