import type { Json } from '../../core/json.ts'
import type { ModelObject } from '../../core/model.ts'
import type { Usage } from '../../core/run.ts'
import type { AgentRunContext } from './settings.ts'

export interface RunOutcome<DATA = Json> {
  readonly text: string
  /** Parsed by `output`; undefined without `output`. */
  readonly data: DATA | undefined
  readonly usage: Usage | null
}

/** The parameters of a model call, as the AI SDK gives them to the provider. */
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

/** Code around the actions of an agent. A hook calls `next` to perform the action; its error fails the action. */
export interface AgentHooks<DATA = Json> {
  /** Around the whole run. `next` resolves with the complete answer. */
  run?: (call: AgentRunContext, next: () => Promise<RunOutcome<DATA>>) => unknown
  /** Around every attempt of a model call; `next` may get other parameters. Must call `next`. */
  modelCall?: (call: ModelCallInfo, next: (params?: ModelParams) => Promise<ModelOutcome>) => unknown
  /** Around every tool call; `next` may get another input. The return value is the tool's result. */
  toolCall?: (call: ToolCallInfo, next: (...input: [] | [input: unknown]) => Promise<unknown>) => unknown
}
