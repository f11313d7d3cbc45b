import type { Agent, ModelMessage, OutputInterface, ToolSet } from 'ai'
import { isAppError } from '../core/error.ts'
import type { EmittedEvent } from '../core/event.ts'
import type { ModelSetting } from '../core/model.ts'
import { modelFailure } from '../models/failure.ts'
import type { AgentContext } from './agent-settings.ts'
import { EventQueue } from './event-queue.ts'
import { ModelEvents } from './model-events.ts'

/** Any agent of the AI SDK that takes no call options. */
export type SdkAgent = Agent<never, ToolSet, AgentContext, OutputInterface>

export interface ModelRun {
  agent: SdkAgent
  messages: ModelMessage[]
  signal: AbortSignal
  /** Where tools put events of their own; ends with the run. */
  queue?: EventQueue<EmittedEvent>
  /** What the model is called; left out, the provider's and the model's own names. */
  label?: string
  setting?: ModelSetting | undefined
}

/** Streams an agent's answer as events. Ends when the answer does; a reader that leaves stops the model call. */
export async function* runAgent(run: ModelRun): AsyncGenerator<EmittedEvent> {
  const queue = run.queue ?? new EventQueue<EmittedEvent>()
  const left = new AbortController()
  const stop = () => queue.close({ error: run.signal.reason })
  run.signal.addEventListener('abort', stop, { once: true })
  try {
    run.signal.throwIfAborted()
    void pump(run, queue, AbortSignal.any([run.signal, left.signal]))
    yield* queue
  } finally {
    run.signal.removeEventListener('abort', stop)
    left.abort()
  }
}

/** Never rejects: what goes wrong closes the queue. */
async function pump(run: ModelRun, queue: EventQueue<EmittedEvent>, abortSignal: AbortSignal): Promise<void> {
  const events = new ModelEvents()
  let label = run.label ?? 'model'
  try {
    const { fullStream } = await run.agent.stream({
      messages: run.messages,
      abortSignal,
      onStepStart: (step) => {
        label = run.label ?? `${step.provider}/${step.modelId}`
        return queue.push(events.startCall(label, promptOf(step)))
      },
    })
    for await (const part of fullStream) for (const event of events.of(part)) await queue.push(event)
    queue.close()
  } catch (error) {
    for (const event of events.endCall(null, 'error')) await queue.push(event)
    queue.close({ error: isAppError(error) ? error : modelFailure(error, label, run.setting) })
  }
}

/** The prompt in the provider's form where the SDK shows it, else instructions and messages as they were given to it. */
function promptOf(step: { instructions?: unknown; messages: readonly unknown[] }): unknown {
  if ('promptMessages' in step) return step.promptMessages
  return step.instructions === undefined
    ? step.messages
    : [{ role: 'system', content: step.instructions }, ...step.messages]
}
