import type { Json } from '../../core/json.ts'
import type { ModelObject } from '../../core/model.ts'
import type { Usage } from '../../core/run.ts'
import type { AgentRunContext } from './settings.ts'

export interface RunOutcome<DATA = Json> {
  readonly text: string
  /** What `output` made of it; undefined without `output`. */
  readonly data: DATA | undefined
  readonly usage: Usage | null
}

/** What the model is called with, as the AI SDK gives it to the provider. */
export type ModelParams = Parameters<Extract<ModelObject, { specificationVersion: 'v4' }>['doStream']>[0]

export interface ModelCallInfo {
  /** `provider/model`. */
  readonly model: string
  readonly params: ModelParams
  readonly run: AgentRunContext
}

export interface ModelOutcome {
  readonly text: string
  readonly finish_reason: string
  readonly usage: Usage | null
}

export interface ToolCallInfo {
  readonly name: string
  readonly call_id: string
  readonly input: unknown
  readonly run: AgentRunContext
}

/**
 * Code around what an agent does. Each gets what is about to happen and `next`, which does it; what it throws fails the
 * thing it is around. `next` streams on while it is waited for.
 */
export interface AgentHooks<DATA = Json> {
  /** Around the whole run. `next` resolves with the answer once it has been given. */
  run?: (call: AgentRunContext, next: () => Promise<RunOutcome<DATA>>) => unknown
  /** Around every attempt of a model call, with other parameters if some are given. Must call `next`. */
  modelCall?: (call: ModelCallInfo, next: (params?: ModelParams) => Promise<ModelOutcome>) => unknown
  /** Around every call of a tool, with other input if one is given. What it returns is the result. */
  toolCall?: (call: ToolCallInfo, next: (...input: [] | [input: unknown]) => Promise<unknown>) => unknown
}
