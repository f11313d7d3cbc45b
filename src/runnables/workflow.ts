import { type Duration, parseDuration } from '../core/duration.ts'
import type { EmittedEvent } from '../core/event.ts'
import type { Part } from '../core/message.ts'
import { type Emission, markRunnable, type RunContext, type RunInput, type Runnable } from '../core/runnable.ts'
import { deriveContext } from './derived-context.ts'
import { EventQueue } from './event-queue.ts'
import { toJson } from './json-value.ts'
import { checkSettings, describe, duration, wrong } from './setting-check.ts'
import { type InputSchema, isInputSchema, readInput } from './workflow-input.ts'
import { createStep, type Step } from './workflow-step.ts'

export interface WorkflowContext<INPUT> extends RunContext {
  /** What the schema gave; without one the run's text. */
  readonly input: INPUT
  readonly text: string
  readonly parts: readonly Part[]
  readonly step: Step
}

export interface WorkflowSettings<INPUT> {
  name?: string
  description?: string
  /** A zod schema, or any that follows Standard Schema. */
  input?: InputSchema<INPUT>
  /** Limit of a background run. */
  timeout?: Duration
  /** What it returns is the answer: a string as it is, anything else as JSON text, `undefined` as nothing. */
  run: (context: WorkflowContext<INPUT>) => unknown
}

/** A workflow: plain TypeScript whose `step`s are recorded as they run. Wrong settings throw `invalid_request` naming the key. */
export function workflow<INPUT = string>(settings: WorkflowSettings<INPUT>): Runnable {
  checkSettings('workflow()', settings, {
    name: 'string',
    description: 'string',
    input: (value) =>
      isInputSchema(value) ? undefined : `must be a schema (zod, for example), not ${describe(value)}`,
    timeout: duration,
    run: 'function',
  })
  if (settings.run === undefined) throw wrong('run', 'workflow(): `run` is missing')
  return markRunnable({
    kind: 'workflow',
    name: settings.name,
    description: settings.description,
    tools: [],
    knowledge: false,
    effects: 'any',
    timeoutMs: parseDuration(settings.timeout),
    run: (input, context) => execute(settings, input, context),
  })
}

async function* execute<INPUT>(
  settings: WorkflowSettings<INPUT>,
  { text, parts }: RunInput,
  context: RunContext,
): AsyncGenerator<Emission> {
  const input = settings.input === undefined ? (text as INPUT) : await readInput(settings.input, { text, parts })
  const queue = new EventQueue<EmittedEvent>()
  const left = new AbortController()
  const signal = AbortSignal.any([context.signal, left.signal])
  const step = createStep((event) => queue.push(event), signal)
  // Steps say that they were cancelled before the stream ends, whatever the workflow's own code does about the signal.
  const stop = () => setImmediate(() => queue.close({ error: context.signal.reason }))
  context.signal.addEventListener('abort', stop, { once: true })
  let output: unknown
  const work = async () => settings.run(deriveContext(context, { input, text, parts, step, signal }))
  work().then(
    (result) => {
      output = result
      queue.close()
    },
    (error: unknown) => queue.close({ error }),
  )
  try {
    yield* queue
  } finally {
    // The reader left, or the run has ended: steps that nobody waited for end too.
    context.signal.removeEventListener('abort', stop)
    left.abort()
  }
  if (output === undefined) return
  const answer = typeof output === 'string' ? output : JSON.stringify(toJson(output))
  if (answer !== '') yield answer
}
