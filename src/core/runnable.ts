import type { Again } from './again/again.ts'
import type { RepeatedEvent } from './again/plan.ts'
import type { EntityConfig } from './entity/config.ts'
import type { EmittedEvent, InputRequired, RunEvent } from './event.ts'
import type { Json, JsonObject } from './json.ts'
import type { Knowledge } from './knowledge/knowledge.ts'
import type { Logger } from './logger.ts'
import type { RunUser, UserMemory } from './memory/fact.ts'
import type { FilePart, GivenPart, Message, Part, UploadedFilePart } from './message.ts'
import type { ModelSetting } from './model.ts'
import type { CallAnswer, EntityKind, RunGiven, RunRecord } from './run.ts'
import type { Summary } from './summary.ts'
import type { Answer } from './waiting.ts'

export interface RunInput {
  parts: readonly Part[]
  /** The text of the parts. */
  text: string
}

export interface Resumption {
  /** All events so far, in order. The last one is `run_resumed` with the answer. */
  readonly events: readonly RunEvent[]
  readonly approved?: boolean | Record<string, boolean> | undefined
  readonly input?: Json | undefined
  readonly answers?: Readonly<Record<string, CallAnswer>> | undefined
}

export interface ChildInput extends Omit<RunInput, 'parts'> {
  parts: readonly GivenPart[]
}

/**
 * The input of a child run, or the child run to resume. `askedAs`: the child is asked by code and gets this run id.
 * `answer` resumes it in place of the parent's own answer. `answers` is passed to its context.
 */
export type ChildCall = (
  | { entityId: string; input: ChildInput; askedAs?: string | undefined }
  | { runId: string; answer?: Answer | undefined }
) & { answers?: readonly MemberAnswer[] | undefined }

export interface ChildRun {
  readonly runId: string
  /** From its start, or from where it continues, to its end or pause. */
  events(): AsyncIterable<readonly RunEvent[]>
  /** Resolves when it has ended or waits for input, whatever the outcome. */
  result(): Promise<RunRecord>
}

/** A child run as it is recorded. */
export interface RecordedChild {
  readonly run: RunRecord
  /** What it waits for. */
  readonly requests: readonly InputRequired[]
}

/** What another agent, team or workflow has answered. */
export interface Asked {
  /** The text of the answer; without text, the JSON of `data`. */
  readonly text: string
  /** The last data part of the answer. */
  readonly data: Json | undefined
  /** The record of its run. */
  readonly run: RunRecord
}

/**
 * Asks another entity of the config as a run inside this one, and resolves with its answer. While it waits for input,
 * this run waits too. Throws `agent_not_found`, and `run_failed` with its message when it fails or is cancelled.
 */
export type Ask = (id: string, question: string | readonly GivenPart[]) => Promise<Asked>

/** The default number of earlier runs of the session that a run sees. */
export const defaultHistoryRuns = 20

export interface MemberAnswer {
  /** The member's name: its id, where the team names it by id. */
  readonly name: string
  readonly text: string
}

/** The files of the run's session. */
export interface AgentFiles {
  /** The content of a file that the session keeps. Throws `file_not_found`. */
  read(file: Pick<FilePart, 'file_id' | 'url'>): Promise<Uint8Array>
}

/** `url`: where it was fetched from. */
export interface ProducedFile extends Pick<FilePart, 'media_type' | 'name' | 'url'> {
  bytes: Uint8Array
}

/** The files of a session, as the service gives them to entities. */
export interface SessionFiles extends AgentFiles {
  find(fileId: string): Promise<FilePart | undefined>
  /** What was fetched from this address: by that run, or without one by any run of the session. */
  findFetched(url: string, runId?: string): Promise<FilePart | undefined>
  /** Adds a file to the run. Durable when it resolves. Throws `run_limit` beyond `fileSize`, and without a `url` beyond `run.files`. */
  save(file: ProducedFile): Promise<FilePart>
}

/** The run, as the code of agents, tools and workflows sees it. */
export interface AgentContext<STATE extends object = JsonObject> {
  readonly runId: string
  readonly sessionId: string
  readonly entityId: string
  readonly userId: string | null
  /** The same user, with the facts about the user. */
  readonly user: RunUser
  readonly metadata: Readonly<JsonObject>
  /** The session's state. Changes are saved with the end of the run. */
  readonly state: STATE
  /** Aborts on cancel, deadline, disconnect and shutdown. Pass it to every call that takes a signal. */
  readonly signal: AbortSignal
  /**
   * The run and how often it has changed hands: another text after it was resumed or another process took it over. Sent along
   * with what acts on the outside world, it lets that refuse a process which has lost the run and does not know yet.
   */
  readonly fence: string
  readonly files: AgentFiles
  readonly logger: Logger
  /** Absent if the server has no knowledge base. */
  readonly knowledge?: Knowledge | undefined
  /** The earlier messages, oldest first, of at most this many runs (default 20): the session's, or those that the caller gave. */
  history(runs?: number): Promise<readonly Message[]>
  summary(): Promise<Summary | undefined>
  /** The caller's own instructions for this run; absent in child runs. */
  readonly instructions?: string | undefined
  /** In a team member: the answers of the earlier members, in order. Otherwise empty. */
  readonly answers: readonly MemberAnswer[]
  readonly ask: Ask
}

/** The context that the service gives a run: the public part, and what only entities need. */
export interface RunContext<STATE extends object = JsonObject> extends Omit<AgentContext<STATE>, 'ask'> {
  readonly files: SessionFiles
  /** What is remembered about the user. Its methods throw `invalid_request` in a run without a user. */
  readonly userMemory?: UserMemory | undefined
  /** Added by entities whose code may ask. */
  readonly ask?: Ask | undefined
  /** Another registered entity; throws `agent_not_found`. */
  entity(id: string): Runnable
  /** What the caller gave besides the input. */
  readonly given?: RunGiven | undefined
  /** For calls of other servers: the header that makes their spans part of this run's trace. Absent without telemetry. */
  traceparent?: string | undefined
  /** Absent until the run is resumed. A run that repeats another begins with what it repeats. */
  readonly resumed?: Resumption | undefined
  /** In a run that repeats another. */
  readonly again?: Again | undefined
  /** Records what another run's record has as this run's. Resolves when it is durable. Only with `again`. */
  repeat?(events: readonly RepeatedEvent[]): Promise<void>
  /** Resolves when everything emitted so far is durable. */
  recorded(): Promise<void>
  readonly [inputCheck]?: InputCheck | undefined
  /** Runs an entity as a child of this run, with its own record. With `runId`, resumes a waiting child with the answer that this run got. */
  child(entity: Runnable, call: ChildCall): Promise<ChildRun>
  /** A child of this run by its id; undefined when it never started. */
  findChild(runId: string): Promise<RecordedChild | undefined>
  /** Cancels a child that waits for input, or what waits inside one that was interrupted. */
  cancelChild(run: RunRecord): Promise<void>
  /** How many children may work for `ask` at the same time. */
  readonly maxAsks: number
  /** Emits an event beside those that the entity yields. Resolves when it may continue. */
  emit(event: EmittedEvent): Promise<void>
  /** Emits the requests of children and pauses the run, whatever the entity is doing. */
  pause(requests: readonly InputRequired[]): void
}

/** A string is a `text_delta`. Usage is summed from `model_call_end`. The session keeps the `data` of a file. */
export type Emission = string | EmittedEvent | UploadedFilePart

/** When a cached answer may be used. */
export interface AnswerCache {
  ttlMs: number
  /** Identifies everything that the answers depend on, in any process. Absent: unknown, so cached answers last as long as this object. */
  version?: string | undefined
  /** `prompt`: answers depend only on input, history and summary; `context`: on the whole context. In both cases per user. */
  reads: 'prompt' | 'context'
  /** Maximum number of earlier runs that it sees. */
  runs: number
  /** Answers depend on the facts about the user. */
  facts?: boolean | undefined
  /** Users may share cached answers. */
  shared?: boolean | undefined
}

/** An entity that can be registered and run: an agent, a team or a workflow. */
export interface Runnable<KIND extends EntityKind = EntityKind> {
  readonly kind: KIND
  readonly name?: string | undefined
  readonly description?: string | undefined
  /** Shown in lists; undefined without its own model. */
  readonly model?: string | undefined
  /** The models that are tried after it, in order. */
  readonly fallbackModels?: readonly string[]
  /** All of them as they are configured, with their keys: for checks inside this process, never shown. */
  readonly modelSettings?: readonly ModelSetting[]
  readonly tools: readonly { name: string; description?: string | undefined }[]
  readonly knowledge: boolean
  /** `false`: it may start before its start is durable, because the run has no effect outside. */
  readonly sideEffects: boolean
  readonly cache?: AnswerCache | undefined
  /** Hides the input from readers until `inputCheck` has accepted it. */
  readonly checksInput?: boolean | undefined
  /** `steps`: a run of it can be repeated from any step, and asks before it acts. Default: only as a whole. */
  readonly repeats?: 'steps' | undefined
  /** What a caller may give a run of it besides input and history. */
  readonly takes?: readonly Exclude<keyof RunGiven, 'history'>[] | undefined
  /** Called before a run exists; throws `invalid_request` for an input or a history that the run would refuse. */
  checkInput?(input: RunInput, given?: RunGiven): Promise<void>
  /** Why it can't offer a client tool of this name. */
  clientToolProblem?(name: string): string | undefined
  /** Time limit of background runs. Other runs also end with requestTimeout. */
  readonly timeoutMs?: number | undefined
  /** Absent: nothing more is known than its fields say. Connects to nothing. */
  describe?(): Promise<EntityConfig>
  run(input: RunInput, context: RunContext): AsyncIterable<Emission>
}

/** Where an agent's input guardrails report their decision. */
export interface InputCheck {
  passInput(parts: readonly Part[]): void
  /** Removes the input from the record when the run ends. */
  refuseInput(parts: readonly Part[]): void
}

/** The key of the `InputCheck` in a context. */
export const inputCheck = Symbol.for('agentserve.inputCheck')

const mark = Symbol.for('agentserve.runnable')

/** Marks an object as a runnable, so that any copy of this package recognises it. */
export function markRunnable<T extends Runnable>(runnable: T): T {
  Object.defineProperty(runnable, mark, { value: true })
  return runnable
}

export function isRunnable(value: unknown): value is Runnable {
  return typeof value === 'object' && value !== null && mark in value
}

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
