import type { EmittedEvent, RunEvent } from './event.ts'
import type { Json, JsonObject } from './json.ts'
import type { Knowledge } from './knowledge/knowledge.ts'
import type { Logger } from './logger.ts'
import type { Message, Part } from './message.ts'
import type { EntityKind, RunRecord } from './run.ts'
import type { Summary } from './summary.ts'

export interface RunInput {
  parts: readonly Part[]
  /** The text of the parts. */
  text: string
}

/** What is known of a run that goes on after a pause. */
export interface Resumption {
  /** Everything recorded before, in order; the last is the `run_resumed` with what the run was given. */
  readonly events: readonly RunEvent[]
  readonly approved?: boolean | Record<string, boolean> | undefined
  readonly input?: Json | undefined
}

/** What a run inside another one is asked, or which run goes on. `answers` becomes that of its context. */
export type ChildCall = ({ entityId: string; input: RunInput } | { runId: string }) & {
  answers?: readonly MemberAnswer[] | undefined
}

/** A run inside another one. */
export interface ChildRun {
  readonly runId: string
  /** From its beginning, or from where it goes on, to its end or its pause. */
  events(): AsyncIterable<readonly RunEvent[]>
  /** When it has ended or waits for input; every outcome resolves. */
  result(): Promise<RunRecord>
}

/** Earlier runs of its session that a run sees unless it asks for another number. */
export const defaultHistoryRuns = 20

/** What a member of a team has answered. */
export interface MemberAnswer {
  /** The member's name: its id, where the team names it by id. */
  readonly name: string
  readonly text: string
}

/** What the code of agents, tools and workflows knows of the run that it is part of. */
export interface AgentContext<STATE extends object = JsonObject> {
  readonly runId: string
  readonly sessionId: string
  readonly entityId: string
  readonly userId: string | null
  readonly metadata: Readonly<JsonObject>
  /** The session's state; what is changed here is kept with the end of the run. */
  readonly state: STATE
  /** Cancel, deadline, disconnect and shutdown in one. Pass it on to every call that takes one. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /** Absent when the server has none. */
  readonly knowledge?: Knowledge | undefined
  /** The session's earlier messages, oldest first, of at most so many runs (default 20). */
  history(runs?: number): Promise<readonly Message[]>
  /** The session's latest summary, when there is one. */
  summary(): Promise<Summary | undefined>
  /** In a member of a team: what the members before it have answered, in order. Else empty. */
  readonly answers: readonly MemberAnswer[]
}

/** What the service gives a run: the author's part, and what entities are made of. */
export interface RunContext<STATE extends object = JsonObject> extends AgentContext<STATE> {
  /** Another registered entity; throws `agent_not_found`. */
  entity(id: string): Runnable
  /** Absent in a run's first stretch. */
  readonly resumed?: Resumption | undefined
  /** Resolves when everything emitted so far is durable. */
  recorded(): Promise<void>
  readonly [inputCheck]?: InputCheck | undefined
  /** Runs an entity as part of this run, with a record of its own; `runId`: one that waits for input goes on with what this run was given. */
  child(entity: Runnable, call: ChildCall): Promise<ChildRun>
}

/** A string is a `text_delta`. Usage is summed from `model_call_end`. */
export type Emission = string | EmittedEvent

/** When an answer that was given before may be given again. */
export interface AnswerCache {
  ttlMs: number
  /** Stands for all that its answers rest on, in any process. Absent: it can't be told, so answers last as long as this object. */
  version?: string | undefined
  /** `prompt`: answers rest on the input, the history and the summary alone; `context`: on anything that a run is given. Either way a user gets no other user's answers. */
  reads: 'prompt' | 'context'
  /** Earlier runs that it sees at most. */
  runs: number
  /** One user may get what another was answered. */
  shared?: boolean | undefined
}

/** What can be registered and run: agent, team, workflow, or whatever is made into one of them. */
export interface Runnable<KIND extends EntityKind = EntityKind> {
  readonly kind: KIND
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** For lists; undefined when it has no model of its own. */
  readonly model?: string | undefined
  readonly tools: readonly { name: string; description?: string | undefined }[]
  readonly knowledge: boolean
  /** `false`: it may begin before its start is durable, because nothing outside could notice that it ran. */
  readonly sideEffects: boolean
  readonly cache?: AnswerCache | undefined
  /** Its input is for nobody else until it has said in `inputCheck` that it may pass. */
  readonly checksInput?: boolean | undefined
  /** For background runs; others are bound by RequestTimeout too. */
  readonly timeoutMs?: number | undefined
  run(input: RunInput, context: RunContext): AsyncIterable<Emission>
}

/** What an agent's guardrails tell of the input that they have looked at. */
export interface InputCheck {
  passInput(parts: readonly Part[]): void
  /** It is taken out of the record with the end of the run. */
  refuseInput(parts: readonly Part[]): void
}

/** Where a context has its `InputCheck`. */
export const inputCheck = Symbol.for('agentserve.inputCheck')

const mark = Symbol.for('agentserve.runnable')

/** Marks an object as a runnable, so that any copy of this package knows it. */
export function markRunnable<T extends Runnable>(runnable: T): T {
  Object.defineProperty(runnable, mark, { value: true })
  return runnable
}

export function isRunnable(value: unknown): value is Runnable {
  return typeof value === 'object' && value !== null && mark in value
}

/** The item of the agent list. */
export interface EntityInfo {
  id: string
  kind: EntityKind
  name: string | null
  description: string | null
  model: string | null
  tools: { name: string; description: string | null }[]
  knowledge: boolean
  streaming: boolean
}
