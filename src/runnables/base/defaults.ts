import type { ToolSet } from 'ai'
import type { ModelChoice } from '../../core/model.ts'
import type { Runnable } from '../../core/runnable.ts'
import type { Network } from '../../runtime/public-network.ts'
import type { RunnableLimits } from '../limits/bounded.ts'
import type { McpServers } from '../mcp/mcp.ts'

export interface Defaults {
  model?: ModelChoice | undefined
  /** The user's project folder, where provider packages are resolved. */
  root?: string | undefined
  mcp?: McpServers | undefined
  testDoubles?: TestDoubles | undefined
  limits?: RunnableLimits | undefined
  /** `server.requestTimeout` of runs. */
  runTimeoutMs?: number | undefined
  /** `server.files.fetchUrls`; default true. */
  fetchUrls?: boolean | undefined
}

export interface TestDoubles {
  /** Gets the model that the agent would use. */
  model?(setting: ModelChoice | undefined): ModelChoice | undefined
  tools?(tools: ToolSet): ToolSet
  /** Takes the place of the internet when files are fetched. */
  network?: Network | undefined
}

const bind = Symbol.for('agentserve.bind')

/** Makes an entity configurable: `rebuild` returns the same entity with these defaults. */
export function configurable<T extends Runnable>(entity: T, rebuild: (defaults: Defaults) => Runnable): T {
  Object.defineProperty(entity, bind, { value: rebuild })
  return entity
}

/** The entity, and a team's members, with these defaults. The given entity is unchanged. */
export function withDefaults(entity: Runnable, defaults: Defaults): Runnable {
  const rebuild = (entity as { [bind]?: (defaults: Defaults) => Runnable })[bind]
  return rebuild === undefined ? entity : rebuild(defaults)
}
