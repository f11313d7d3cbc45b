import type { OutputInterface, ToolLoopAgentSettings, ToolSet } from 'ai'
import type { Duration } from '../../core/duration.ts'
import type { Json } from '../../core/json.ts'
import type { Filters } from '../../core/knowledge/knowledge.ts'
import type { ModelSetting } from '../../core/model.ts'
import type { AgentContext, Emission, RunContext, RunInput } from '../../core/runnable.ts'
import type { AgentGuardrails } from './guardrails.ts'
import type { AgentHooks } from './hooks.ts'

/** How an agent uses the knowledge base. */
export interface AgentKnowledge {
  /** `first` (default): searched with the user's text before the model is asked. `tool`: the model searches when it wants. */
  mode?: 'first' | 'tool'
  /** Passages per search, 1–100; default 6. */
  limit?: number
  filters?: Filters
  collection?: string
}

export interface AgentMemory {
  /** Earlier runs of the session that the model sees, 0–1000; default 20. */
  runs?: number
  /** Budget of what it is told of the session, in tokens of four characters; default none. Only whole runs are told. */
  tokens?: number
  /** Whether the session's summary, when there is one, takes the place of what came before it; default: unless `runs` is 0. */
  summary?: boolean
}

/** What an agent's own `run` is given. */
export interface AgentRunContext extends AgentContext, Pick<RunContext, 'resumed'> {
  readonly text: string
  readonly parts: RunInput['parts']
}

/** What `run` may give: one text, or any stream of texts and events. */
export type AgentOutput = string | AsyncIterable<Emission> | Iterable<Emission>

/** The AI SDK's `runtimeContext`. */
export type RuntimeContext = Record<string, unknown>

type Replaced = 'model' | 'tools' | 'output' | 'timeout' | 'id' | 'callOptionsSchema' | '_internal'

/** What an agent with this `output` gives as data. */
export type DataOf<OUTPUT> = [OUTPUT] extends [never] ? Json : OUTPUT extends OutputInterface<infer DATA> ? DATA : never

type SdkSetting = Exclude<keyof ToolLoopAgentSettings<never, ToolSet, RuntimeContext, OutputInterface>, Replaced>

/** With keys that are known whatever the tools are, so that the compiler can say which one was meant. */
type Kept<SETTINGS> = { [KEY in SdkSetting]?: KEY extends keyof SETTINGS ? SETTINGS[KEY] : never }

/** The AI SDK's `ToolLoopAgentSettings`, `model` optional and wider, and what agentserve adds. */
export interface AgentSettings<
  TOOLS extends ToolSet = ToolSet,
  CONTEXT extends RuntimeContext = RuntimeContext,
  OUTPUT extends OutputInterface = never,
> extends Kept<ToolLoopAgentSettings<never, TOOLS, CONTEXT, OUTPUT>> {
  name?: string
  description?: string
  /** Left out: the config's `model`; without one the agent quotes from its knowledge base. */
  model?: ModelSetting
  tools?: TOOLS
  output?: OUTPUT
  knowledge?: true | AgentKnowledge
  memory?: AgentMemory
  /** The same user, input and history within this time gets the recorded answer; `shared`: any user does. */
  cache?: { ttl: Duration; shared?: boolean }
  guardrails?: AgentGuardrails<DataOf<NoInfer<OUTPUT>>>
  hooks?: AgentHooks<DataOf<NoInfer<OUTPUT>>>
  /** Limit of a background run; the AI SDK's object sets limits of its own for steps, chunks and tools. */
  timeout?: Duration | Exclude<ToolLoopAgentSettings<never, TOOLS>['timeout'], number | undefined>
  /** `false` for a `run` that nothing outside can notice: it may begin before its start is durable. Default `true`. */
  sideEffects?: boolean
  /** Takes the place of the model: whatever it gives is the answer. */
  run?: (context: AgentRunContext) => AgentOutput | Promise<AgentOutput>
}

/** Required where a tool has a context of its own that can't be left out. */
export type ToolsContext<TOOLS extends ToolSet> =
  ToolLoopAgentSettings<never, TOOLS> extends { toolsContext: infer CONTEXT extends object }
    ? { toolsContext: CONTEXT }
    : unknown

/** Settings of any agent, as they are worked with once they are checked. */
export type AnyAgentSettings = AgentSettings<ToolSet, RuntimeContext, OutputInterface>
