import { recordedCalls } from '../core/again/recorded-calls.ts'
import { AppError } from '../core/error.ts'
import type { RunEvent } from '../core/event.ts'
import type { Json } from '../core/json.ts'
import type { Part } from '../core/message.ts'
import type { RunRecord, RunStatus } from '../core/run.ts'
import { problemOfDeclaredScorer } from '../core/scoring/problem.ts'
import type { DeclaredScorer } from '../core/scoring/scorer.ts'
import { type PlayedCall, promptHash } from '../runnables/again/player.ts'
import { pausesOf, type SavedRequest } from './pauses.ts'
import type { TestToolCall } from './project.ts'

/** A recorded answer of a model, replayed when the test runs. */
export interface SavedModelCall extends PlayedCall {}

/** By name. `false` takes away one of the config or of the whole test. */
export type GivenScorers = Readonly<Record<string, DeclaredScorer | false>>

export interface SavedTurn {
  input: Part[]
  model_calls: SavedModelCall[]
  /** What the run waited for and what was answered, pause by pause. */
  pauses?: SavedRequest[][]
  expect: {
    status: RunStatus
    content: string
    data?: Json[]
    error?: string
    tool_calls: TestToolCall[]
  }
  /** Only for this turn. */
  scorers?: GivenScorers
}

/** A conversation as a test: the input, the answers of the models and the output. */
export interface SavedTest {
  agentserve: 'session-test/1'
  entity: string
  /** `recorded`: tools return their recorded results; `live`: tools are run. */
  tools: 'recorded' | 'live'
  /** For every turn, besides those of the config. */
  scorers?: GivenScorers
  turns: SavedTurn[]
}

/** One run of a session with its recorded events and the runs of its team members. */
export interface RunToSave {
  run: Pick<RunRecord, 'run_id' | 'entity_id' | 'status' | 'error'> & { messages: RunRecord['messages'] }
  events: readonly RunEvent[]
  members: readonly RunToSave[]
}

/** Makes a test of a session's runs, in order. Throws `invalid_request` for a run that can't be replayed. */
export function toSavedTest(runs: readonly RunToSave[], tools: SavedTest['tools'] = 'recorded'): SavedTest {
  const entity = entityOf(runs.map(({ run }) => run))
  return { agentserve: 'session-test/1', entity, tools, turns: runs.map(toTurn) }
}

/** The one entity of all these runs. Throws `invalid_request` without one. */
export function entityOf(runs: readonly Pick<RunRecord, 'entity_id'>[]): string {
  const first = runs[0]
  if (first === undefined) throw new AppError('invalid_request', 'The session has no runs to save as a test.')
  const other = runs.find(({ entity_id }) => entity_id !== first.entity_id)
  if (other === undefined) return first.entity_id
  const names = `'${first.entity_id}' and '${other.entity_id}'`
  throw new AppError('invalid_request', `The session has runs of ${names}. A test can only have runs of one of them.`)
}

export function toTurn({ run, events, members }: RunToSave): SavedTurn {
  const pauses = pausesOf(events)
  const isDenied = run.status === 'cancelled' && pauses.at(-1)?.some(({ answer }) => answer.approved === false)
  if (run.status !== 'completed' && run.status !== 'failed' && !isDenied) {
    throw new AppError(
      'invalid_request',
      `Run '${run.run_id}' is ${run.status}; only an ended run can be played again.`,
    )
  }
  if (pauses.some((pause) => pause.some(({ kind }) => kind === 'tool'))) {
    throw new AppError('invalid_request', `Run '${run.run_id}' has tools of its caller, which a test does not have.`)
  }
  const input = run.messages.find(({ role }) => role === 'user')?.parts ?? []
  if (input.some(({ type }) => type === 'file')) {
    throw new AppError('invalid_request', `Run '${run.run_id}' has a file in its input, which a test can't hold.`)
  }
  const answer = run.messages.findLast(({ role }) => role === 'assistant')
  const data = (answer?.parts ?? []).flatMap((part) => (part.type === 'data' ? [part.data] : []))
  return {
    input,
    model_calls: modelCallsOf({ run, events, members }),
    ...(pauses.length === 0 ? {} : { pauses }),
    expect: {
      status: run.status,
      content: answer?.content ?? '',
      ...(data.length === 0 ? {} : { data }),
      ...(run.error === null ? {} : { error: run.error.message }),
      tool_calls: recordedCalls(events),
    },
  }
}

/** Leaves out the offline model: it is deterministic and is called again. */
function modelCallsOf({ events, members }: RunToSave): SavedModelCall[] {
  const calls: SavedModelCall[] = []
  const known = new Set<string>()
  let open: SavedModelCall | undefined
  for (const event of events) {
    if (event.type === 'model_call_start') {
      open = undefined
      if (event.model === 'offline') continue
      open = { prompt_hash: promptHash(event.messages), finish_reason: 'stop', usage: null }
      calls.push(open)
    } else if (event.type === 'model_call_end') {
      if (open !== undefined) Object.assign(open, { finish_reason: event.finish_reason, usage: event.usage })
    } else if (event.type === 'step_start' && event.child_run_id !== undefined) {
      // A child that paused is begun again with the same run.
      const member = members.find(({ run }) => run.run_id === event.child_run_id)
      if (member === undefined || known.has(event.child_run_id)) continue
      known.add(event.child_run_id)
      calls.push(...modelCallsOf(member))
    } else if (open !== undefined) hear(open, event)
  }
  return calls
}

function hear(call: SavedModelCall, event: RunEvent): void {
  if (event.type === 'text_delta') call.text = (call.text ?? '') + event.text
  else if (event.type === 'reasoning_delta') call.reasoning = (call.reasoning ?? '') + event.text
  else if (event.type === 'data' && call.text === undefined) call.text = JSON.stringify(event.data)
  else if (event.type === 'tool_call') {
    const { call_id, name, input } = event
    call.tool_calls = [...(call.tool_calls ?? []), { call_id, name, input }]
  }
}

function isPauses(pauses: unknown): boolean {
  if (pauses === undefined) return true
  const isRequest = (one: Partial<SavedRequest> | null) => typeof one?.prompt === 'string' && isObject(one.answer)
  return Array.isArray(pauses) && pauses.every((pause) => Array.isArray(pause) && pause.every(isRequest))
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses the text of a test file. Throws `invalid_request` if it is not one. */
export function parseSavedTest(text: string, name: string): SavedTest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new AppError('invalid_request', `${name} is not JSON.`, { cause })
  }
  const test = value as Partial<SavedTest> | null
  const sound =
    test?.agentserve === 'session-test/1' &&
    typeof test.entity === 'string' &&
    Array.isArray(test.turns) &&
    test.turns.every(
      (turn) =>
        Array.isArray(turn?.input) &&
        Array.isArray(turn.model_calls) &&
        turn.expect !== undefined &&
        isPauses(turn.pauses),
    )
  if (!sound) throw new AppError('invalid_request', `${name} is not a file written by \`sessions save-test\`.`)
  checkScorers(test.scorers, `${name}: scorers`)
  for (const [place, { scorers }] of (test.turns ?? []).entries())
    checkScorers(scorers, `${name}: turns.${place}.scorers`)
  return { ...(test as SavedTest), tools: test.tools ?? 'recorded' }
}

function checkScorers(scorers: unknown, path: string): void {
  if (scorers === undefined) return
  if (!isObject(scorers)) throw new AppError('invalid_request', `${path} must be an object with one scorer per name.`)
  for (const [name, scorer] of Object.entries(scorers as object)) {
    const problem = scorer === false ? undefined : problemOfDeclaredScorer(scorer)
    if (problem !== undefined) throw new AppError('invalid_request', `${path}.${name} ${problem}.`)
  }
}
