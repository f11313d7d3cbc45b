import type { Agent, ModelMessage, OutputInterface, ToolSet } from 'ai'
import { isAppError } from '../../core/error.ts'
import type { EmittedEvent, InputRequired } from '../../core/event.ts'
import type { ModelChoice } from '../../core/model.ts'
import { failureWords, modelFailure } from '../../models/failure.ts'
import { nameOfModel } from '../../models/name.ts'
import { Channel } from '../../runtime/channel.ts'
import type { ModelParams } from '../agent/hooks.ts'
import type { RuntimeContext } from '../agent/settings.ts'
import type { ModelFiles } from '../files/model-files.ts'
import { storeResult } from '../files/results.ts'
import type { StepLimit } from '../limits/step-limit.ts'
import { openClientCalls } from '../tools/client-tools.ts'
import { ProgressOfCalls } from '../tools/progress.ts'
import { WaitingCall } from '../tools/waiting-call.ts'
import { hashesOfOpen, type KnownTools, toCheckpoint } from './checkpoint.ts'
import { ModelEvents } from './events.ts'
import type { ModelObserver } from './observer.ts'
import { settingsOf, toolsOf } from './settings.ts'

export type SdkAgent = Agent<never, ToolSet, RuntimeContext, OutputInterface>

export interface ModelRun {
  agent: SdkAgent
  messages: ModelMessage[]
  files: ModelFiles
  signal: AbortSignal
  /** For events of tools; ends with the run. */
  queue?: Channel<EmittedEvent>
  /** Without an observer the SDK says what it is about to send. */
  observer?: ModelObserver
  /** The model's name in events; default: the provider's and the model's own names. */
  label?: string
  setting?: ModelChoice | undefined
  tools?: KnownTools | undefined
  /** Names of the client tools: the run pauses at their calls. */
  clientTools?: readonly string[] | undefined
  /** Approved calls that are not made, with the reason. */
  denied?: ReadonlyMap<string, string> | undefined
  /** Absent: the agent limits its own steps. */
  steps?: StepLimit | undefined
  /** For tools without a check of their own: throws for a result that can't be recorded. */
  checkResult?: ((tool: string, output: unknown) => void) | undefined
  /** For the progress of tools that don't tell it themselves: how much a call may tell. */
  progressBytes?: number
}

/**
 * Streams an agent's answer as events. Ends with the answer, or when tool calls wait for input: the last event then
 * holds the state to resume from. A reader that leaves stops the model call.
 */
export function runAgent(run: ModelRun): AsyncIterableIterator<EmittedEvent, undefined> {
  const queue = run.queue ?? new Channel<EmittedEvent>()
  const reader = queue[Symbol.asyncIterator]()
  const stopping = new AbortController()
  const stop = () => {
    stopping.abort(run.signal.reason)
    queue.close({ error: run.signal.reason })
  }
  let begun = false
  const begin = () => {
    begun = true
    if (run.signal.aborted) return stop()
    run.signal.addEventListener('abort', stop, { once: true })
    void pump(run, queue, stopping.signal).finally(() => run.signal.removeEventListener('abort', stop))
  }
  return {
    next() {
      if (!begun) begin()
      return reader.next()
    },
    async return() {
      stopping.abort()
      await reader.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** Never rejects: an error closes the queue. */
async function pump(run: ModelRun, queue: Channel<EmittedEvent>, abortSignal: AbortSignal): Promise<void> {
  const events = new ModelEvents(run.denied)
  const tell = (event: EmittedEvent) => void queue.offer(event)
  const progress = new ProgressOfCalls({ bytes: run.progressBytes ?? 0, tell })
  let label = run.label ?? 'model'
  try {
    const asked: InputRequired[] = []
    let spoken = false
    let stepBegins = false
    if (run.observer !== undefined) {
      run.observer.onCall = (name, params) => {
        label = name
        // The failed attempt before has no other end.
        if (!stepBegins) for (const event of events.endCall(null, 'error')) void queue.offer(event)
        stepBegins = false
        const told = { tools: toolsOf(params.tools), settings: settingsOf(params) }
        return queue.offer(events.startCall(label, params.prompt, told))
      }
      run.observer.onFailure = (error) => events.failCall(error)
      run.observer.onFallback = async ({ from, to, error }) => {
        events.failCall(error)
        const reason = failureWords(error, run.setting)
        for (const event of events.fallBack({ from, to, reason })) await queue.push(event)
      }
    }
    const waiting = new Map<string, WaitingCall>()
    const clientTools = new Set(run.clientTools)
    let handsOver = false
    const result = await run.agent.stream({
      messages: run.messages,
      abortSignal,
      // Part of the options of every call, and not in their type. It also takes the place of a hosted agent's own.
      ...{ experimental_download: run.files.download },
      onStepStart: (step) => {
        label = run.label ?? nameOfModel(step)
        stepBegins = true
        return run.observer === undefined ? queue.offer(events.startCall(label, ...announced(step))) : undefined
      },
    })
    for await (const part of result.fullStream) {
      if (part.type === 'tool-result' && (part.output as unknown) instanceof WaitingCall) {
        waiting.set(part.toolCallId, part.output as unknown as WaitingCall)
        continue
      }
      if (part.type === 'file') {
        const { uint8Array, mediaType } = part.file
        await queue.push({ ...(await run.files.keep(uint8Array, { mediaType })), type: 'file' })
        continue
      }
      if (part.type === 'tool-result' && part.preliminary === true) {
        progress.offer(part.toolCallId, part.toolName, part.output)
        continue
      }
      if (part.type === 'tool-result' || part.type === 'tool-error') progress.end(part.toolCallId)
      const output = part.type === 'tool-result' ? await storeResult(part.output, run.files) : undefined
      if (part.type === 'tool-result') run.checkResult?.(part.toolName, output)
      if (part.type === 'tool-call') handsOver ||= clientTools.has(part.toolName)
      // Like any other call, it does not count in an answer that was cut off.
      if (part.type === 'finish-step') handsOver &&= ['tool-calls', 'stop'].includes(part.finishReason)
      for (const event of events.of(part, output)) {
        if (event.type === 'input_required') asked.push(event)
        else {
          // The first fragment is sent before anything else is done.
          const wait = spoken ? queue.offer(event) : queue.push(event)
          spoken ||= event.type === 'text_delta'
          if (wait !== undefined) await wait
        }
      }
    }
    if (handsOver || asked.length + waiting.size > 0) {
      // Read only here: it rejects with the stream's error, which would otherwise be unhandled.
      const given = await result.responseMessages
      if (handsOver) asked.push(...openClientCalls(given, clientTools))
    }
    if (asked.length + waiting.size > 0) {
      const messages = await run.files.toReferences([...run.messages, ...(await result.responseMessages)])
      const hashes = run.tools && hashesOfOpen(messages, run.tools)
      for (const event of paused(asked, messages, waiting, hashes)) await queue.push(event)
    } else if (run.steps?.failure !== undefined) throw run.steps.failure
    queue.close()
  } catch (error) {
    if (run.observer === undefined) events.failCall(error)
    for (const event of events.endCall(null, 'error')) await queue.push(event)
    queue.close({ error: isAppError(error) ? error : modelFailure(error, label, run.setting) })
  } finally {
    progress.endAll()
  }
}

/** The requests of the model's calls and of the runs inside them; the last event holds the state to resume from. */
export function paused(
  asked: readonly InputRequired[],
  messages: ModelMessage[],
  waiting: ReadonlyMap<string, WaitingCall>,
  hashes: Readonly<Record<string, string>> = {},
): InputRequired[] {
  const all = [...asked, ...[...waiting.values()].flatMap(({ asks }) => asks)]
  const inside = [...waiting].flatMap(([callId, { runId }]) => (runId === undefined ? [] : [[callId, runId] as const]))
  const again = [...waiting].flatMap(([callId, { runId }]) => (runId === undefined ? [callId] : []))
  const checkpoint = toCheckpoint({
    messages,
    ...(inside.length === 0 ? {} : { inside: Object.fromEntries(inside) }),
    ...(again.length === 0 ? {} : { again }),
    ...(Object.keys(hashes).length === 0 ? {} : { hashes }),
  })
  return all.map((event, place) => (place === all.length - 1 ? { ...event, messages: checkpoint } : event))
}

interface Announcement {
  instructions?: unknown
  messages: readonly unknown[]
  promptMessages?: unknown
  stepTools?: ModelParams['tools']
  stepToolChoice?: ModelParams['toolChoice']
  providerOptions?: ModelParams['providerOptions']
}

/** The prompt as the provider gets it if the SDK shows it, else instructions and messages; and the settings. */
function announced(step: Announcement) {
  const { instructions, messages, promptMessages, stepTools, stepToolChoice, providerOptions } = step
  const given = instructions === undefined ? messages : [{ role: 'system', content: instructions }, ...messages]
  const settings = settingsOf({ toolChoice: stepToolChoice, providerOptions })
  return [promptMessages ?? given, { tools: toolsOf(stepTools), settings }] as const
}
