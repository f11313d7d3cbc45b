import { isDeepStrictEqual } from 'node:util'
import type { Duration } from '../../core/duration.ts'
import { noConfig } from '../../core/entity/config.ts'
import type { EmittedEvent } from '../../core/event.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import {
  type AgentContext,
  type Emission,
  markRunnable,
  type RunContext,
  type RunInput,
  type Runnable,
} from '../../core/runnable.ts'
import { Channel } from '../../runtime/channel.ts'
import { checkSettings } from '../../schema/check.ts'
import { callback, duration, is, settings as settingsOf, string } from '../../schema/field.ts'
import { askingOf } from '../base/ask-scope.ts'
import { deriveContext } from '../base/derived-context.ts'
import { Journal } from '../base/journal.ts'
import { textOfState, toJournal } from '../base/json-value.ts'
import { insideRun } from '../base/run-context.ts'
import { type Entity, withToolLook } from '../tools/as-tool.ts'
import { toJsonSchema } from '../tools/describe.ts'
import { type Approve, createApprove } from './approval.ts'
import { createAsk } from './ask.ts'
import { createGate } from './gate.ts'
import { checkInput, type InputSchema, isInputSchema, readInput, readState } from './input.ts'
import { beginAt, createStep, type Step } from './step.ts'

export interface WorkflowContext<INPUT, STATE extends object = JsonObject> extends AgentContext<STATE> {
  /** Validated by the schema; without one the run's text. */
  readonly input: INPUT
  readonly text: string
  readonly parts: readonly Part[]
  readonly step: Step
  readonly approve: Approve
}

export interface WorkflowSettings<INPUT, STATE extends object = JsonObject> {
  name?: string
  description?: string
  /** A zod schema, or any Standard Schema. */
  input?: InputSchema<INPUT>
  /** For the session's state; defaults that it adds are there when the workflow begins. */
  state?: InputSchema<STATE>
  /** Timeout of a background run. */
  timeout?: Duration
  /**
   * Returns the answer: a string as text, `undefined` as nothing, anything else as a data part. A resumed run calls it
   * again: finished steps, approvals and asks return their recorded results, and code outside of them is repeated.
   */
  run: (context: WorkflowContext<INPUT, STATE>) => unknown
}

const schema = is('a schema (zod, for example)', isInputSchema).optional()
const workflowSettings = settingsOf({
  name: string().optional(),
  description: string().optional(),
  input: schema,
  state: schema,
  timeout: duration().optional(),
  run: callback(),
})

/** TypeScript whose finished steps survive an interruption. Wrong settings throw `invalid_request` naming the key. */
export function workflow<INPUT = string, STATE extends object = JsonObject>(
  settings: WorkflowSettings<INPUT, STATE>,
): Entity<'workflow'> {
  const { timeout } = checkSettings('workflow()', workflowSettings, settings)
  const entity: Runnable<'workflow'> = markRunnable({
    kind: 'workflow',
    name: settings.name,
    description: settings.description,
    tools: [],
    knowledge: false,
    sideEffects: true,
    timeoutMs: timeout,
    repeats: 'steps',
    takes: ['instructions'],
    describe: async () => ({ ...noConfig, input_schema: await toJsonSchema(settings.input) }),
    ...(settings.input !== undefined && { checkInput: (input: RunInput) => checkInput(settings.input, input) }),
    run: (input, context) => {
      const own = deriveContext(context, {})
      return insideRun(own, () => execute(settings, input, own))
    },
  })
  return withToolLook(entity)
}

async function* execute<INPUT, STATE extends object>(
  settings: WorkflowSettings<INPUT, STATE>,
  { text, parts }: RunInput,
  context: RunContext,
): AsyncGenerator<Emission> {
  const input = settings.input === undefined ? (text as INPUT) : await readInput(settings.input, { text, parts })
  const state = await readState(settings.state, context)
  context.signal.throwIfAborted()
  const { runId } = context
  const queue = new Channel<EmittedEvent>()
  const emit = (event: EmittedEvent) => queue.push(event)
  const left = new AbortController()
  const signal = AbortSignal.any([context.signal, left.signal])
  const journal = new Journal(context.resumed?.events ?? [], (error) => queue.close({ error }))
  let underWay = 0
  let waiting = 0
  // Pauses when only approvals are awaited; the code after a finished step has begun by then.
  const pauseWhenIdle = () => setImmediate(() => underWay === 0 && waiting > 0 && queue.close())
  const enter = () => {
    underWay++
    return () => {
      underWay--
      pauseWhenIdle()
    }
  }
  const wait = () => {
    waiting++
    pauseWhenIdle()
    return new Promise<never>(() => {})
  }
  const changedState = watchState(context.state)
  const gate = context.again && createGate(context.again, { journal, state: context.state, emit, wait })
  const recorded = () => context.recorded()
  const step = createStep({ runId, emit, recorded, signal, journal, changedState, enter, gate })
  const approve = createApprove(journal, emit, wait)
  const asking = { ...askingOf(context, emit), context: deriveContext(context, { signal }) }
  const ask = createAsk({ asking, journal, enter, wait })
  // For `runContext()`, which gives this object.
  Object.assign(context, { ask })
  // Cancelled steps are recorded before the stream ends, even if the workflow's code ignores the signal.
  const stop = () => setImmediate(() => queue.close({ error: context.signal.reason }))
  context.signal.addEventListener('abort', stop, { once: true })
  let output: unknown
  const work = async () =>
    settings.run(deriveContext(context, { input, text, parts, step, approve, ask, state, signal }))
  beginAt(work).then(
    (result) => {
      output = result
      queue.close()
    },
    (error: unknown) => queue.close({ error }),
  )
  try {
    yield* queue
    if (waiting > 0) return
    await journal.assertComplete()
  } finally {
    // The reader left, or the run has ended: steps that are not awaited end too.
    context.signal.removeEventListener('abort', stop)
    left.abort()
  }
  if (output === undefined) return
  if (typeof output === 'string') {
    const rest = restOf(output, context)
    if (rest !== '') yield rest
    return
  }
  const data = toJournal('The workflow', output) ?? null
  if (!isRecorded(data, context)) yield { type: 'data', data }
}

/** Whether the answer is recorded: the process may have died between the answer and the end. */
function isRecorded(answer: Json, { resumed }: RunContext): boolean {
  const last = resumed?.events.findLast(({ type }) => type === 'data')
  return last?.type === 'data' && isDeepStrictEqual(last.data, answer)
}

/** The part of the answer that is not recorded yet. */
function restOf(answer: string, context: RunContext): string {
  let said = ''
  for (const event of context.resumed?.events ?? []) if (event.type === 'text_delta') said += event.text
  return answer.startsWith(said) ? answer.slice(said.length) : answer
}

function watchState(state: JsonObject): (step: string) => JsonObject | undefined {
  let before = JSON.stringify(state)
  return (step) => {
    const now = textOfState(state, step)
    if (now === before) return undefined
    before = now
    return JSON.parse(now) as JsonObject
  }
}
