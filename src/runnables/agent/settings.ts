import type { Instructions, OutputInterface, ToolLoopAgentSettings, ToolSet } from 'ai'
import type { Duration } from '../../core/duration.ts'
import type { Json } from '../../core/json.ts'
import type { Filters } from '../../core/knowledge/filter.ts'
import type { ModelChoice } from '../../core/model.ts'
import type { AgentContext, Emission, RunContext, RunInput } from '../../core/runnable.ts'
import type { AgentGuardrails } from './guardrails.ts'
import type { AgentHooks } from './hooks.ts'

export interface AgentKnowledge {
  /** `first` (default): searches before the model call. `tool`: the model searches when it needs to. */
  mode?: 'first' | 'tool'
  /** Passages per search, 1–100; default 6. */
  limit?: number
  filters?: Filters
  collection?: string
}

export interface AgentMemory {
  /** Earlier runs of the session that the model sees, 0–1000; default 20. */
  runs?: number
  /** Budget for the session's history, in tokens of four characters; default none. Only whole runs are included. */
  tokens?: number
  /** Whether the session's summary replaces the runs that it covers; default: unless `runs` is 0. */
  summary?: boolean
  /**
   * Remembers facts about the user across sessions: the tools `remember` and `forget` for the model, the facts in the prompt
   * and in `user.facts` of the run. Runs without a user have none. Default `false`.
   */
  user?: boolean
}

export interface AgentRunContext extends AgentContext, Pick<RunContext, 'resumed'> {
  readonly text: string
  readonly parts: RunInput['parts']
}

/** Instructions that depend on the run: called once for each run, and again when it is resumed. */
export type InstructionsOfRun = (
  run: AgentRunContext,
) => Instructions | undefined | Promise<Instructions> | Promise<Instructions | undefined>

/** What `run` may return: one text, or any stream of texts and events. */
export type AgentOutput = string | AsyncIterable<Emission> | Iterable<Emission>

export type RuntimeContext = Record<string, unknown>

type Replaced =
  | 'model'
  | 'instructions'
  | 'tools'
  | 'output'
  | 'timeout'
  | 'id'
  | 'callOptionsSchema'
  | '_internal'
  | 'experimental_download'

/** The type of the data that an agent with this `output` gives. */
export type DataOf<OUTPUT> = [OUTPUT] extends [never] ? Json : OUTPUT extends OutputInterface<infer DATA> ? DATA : never

type SdkSetting = Exclude<keyof ToolLoopAgentSettings<never, ToolSet, RuntimeContext, OutputInterface>, Replaced>

/** Keeps all keys known, so that the compiler can suggest the intended one. */
type Kept<SETTINGS> = { [KEY in SdkSetting]?: KEY extends keyof SETTINGS ? SETTINGS[KEY] : never }

/** The AI SDK's `ToolLoopAgentSettings`, `model` optional and wider, and agentserve's own settings. */
export interface AgentSettings<
  TOOLS extends ToolSet = ToolSet,
  CONTEXT extends RuntimeContext = RuntimeContext,
  OUTPUT extends OutputInterface = never,
> extends Kept<ToolLoopAgentSettings<never, TOOLS, CONTEXT, OUTPUT>> {
  name?: string
  description?: string
  /** Default: the config's `model`; without one the agent quotes from its knowledge base. */
  model?: ModelChoice
  /** Text, or messages, for the model; or a function of the run that gives them. */
  instructions?: Instructions | InstructionsOfRun
  tools?: TOOLS
  output?: OUTPUT
  knowledge?: true | AgentKnowledge
  memory?: AgentMemory
  /** Within this time the same user, input and history get the recorded answer; `shared`: every user does. */
  cache?: { ttl: Duration; shared?: boolean }
  guardrails?: AgentGuardrails<DataOf<NoInfer<OUTPUT>>>
  hooks?: AgentHooks<DataOf<NoInfer<OUTPUT>>>
  /** Limit of a background run; the AI SDK's object sets limits of its own for steps, chunks and tools. */
  timeout?: Duration | Exclude<ToolLoopAgentSettings<never, TOOLS>['timeout'], number | undefined>
  /** `false` for a `run` without visible side effects: it may begin before its start is durable. Default `true`. */
  sideEffects?: boolean
  /** Replaces the model: what it returns is the answer. */
  run?: (context: AgentRunContext) => AgentOutput | Promise<AgentOutput>
}

/** Required where a tool has a required context. */
export type ToolsContext<TOOLS extends ToolSet> =
  ToolLoopAgentSettings<never, TOOLS> extends { toolsContext: infer CONTEXT extends object }
    ? { toolsContext: CONTEXT }
    : unknown

export type AnyAgentSettings = AgentSettings<ToolSet, RuntimeContext, OutputInterface>
