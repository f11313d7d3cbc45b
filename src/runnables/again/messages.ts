import type { ModelMessage, ToolResultPart } from 'ai'
import type { Again } from '../../core/again/again.ts'
import type { AgainStart, OpenCall } from '../../core/again/plan.ts'
import type { RecordedCall } from '../../core/again/recorded-calls.ts'
import { AppError } from '../../core/error.ts'
import type { EmittedEvent, InputRequired } from '../../core/event.ts'
import type { ToolResultLimits } from '../../core/limits.ts'
import type { FilePart } from '../../core/message.ts'
import type { RunContext, RunInput } from '../../core/runnable.ts'
import { isObject } from '../../schema/field.ts'
import { inlineFile, mapFiles } from '../files/inline.ts'
import { type ModelFiles, referenceTo } from '../files/model-files.ts'
import type { ToolApproval } from '../tools/approvals.ts'
import { toldError, toldOutput } from '../tools/result.ts'
import type { OpenedTools } from '../tools/source.ts'
import type { Gate } from './gate.ts'

/** From where a model goes on: the messages of the next call, the events of what is known already, and what is asked first. */
export interface Continuation {
  messages: ModelMessage[]
  events: EmittedEvent[]
  /** The run pauses with these. */
  asks: InputRequired[]
}

export interface ContinueOptions {
  again: Again
  start: AgainStart
  gate: Gate
  opened: OpenedTools
  files: ModelFiles
  limits: ToolResultLimits
  approval: ToolApproval
}

/** Undefined when the run makes its first messages itself: it runs from a retrieval or a step. */
export async function continueFrom(
  options: ContinueOptions,
  input: RunInput,
  context: RunContext,
): Promise<Continuation | undefined> {
  const { start, again, files } = options
  if (start.at === 'retrieval' || start.at === 'step') return undefined
  const given = start.at === 'model_call' ? again.edit.messages : undefined
  const { prompt } = start
  if (given === undefined && !Array.isArray(prompt)) {
    throw new AppError(
      'run_failed',
      'The prompt of this call is not whole in the record. Run it again from its beginning.',
    )
  }
  let stored: Promise<FilePart[]> | undefined
  const restore = async (told: unknown): Promise<ModelMessage[]> => {
    if (hasDescribed(told)) stored ??= storedFiles(input, context)
    return files.restore(withReferences(told, (await stored) ?? []) as ModelMessage[])
  }
  const messages = await restore(withoutSystem((given ?? prompt) as unknown as ModelMessage[]))
  if (start.at === 'model_call') return { messages, events: [], asks: [] }
  const answer = start.answer === undefined ? saidBefore(start) : await restore(start.answer)
  return withOpenCalls(options, [...messages, ...answer])
}

/** The instructions of the first prompt that the caller gave as messages. */
export function editedInstructions({ edit }: Again): string | undefined {
  const system = (edit.messages ?? []).filter(({ role }) => role === 'system')
  if (edit.instructions !== undefined || system.length === 0) return edit.instructions
  return system.map(({ content }) => (typeof content === 'string' ? content : '')).join('\n\n')
}

function withoutSystem(messages: readonly ModelMessage[]): ModelMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  return messages.slice(first < 0 ? messages.length : first)
}

function saidBefore({ said }: AgainStart): ModelMessage[] {
  const { text = '', reasoning = '', calls = [] } = said ?? {}
  const content = [
    ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ call_id, name, input }) => ({
      type: 'tool-call' as const,
      toolCallId: call_id,
      toolName: name,
      input,
    })),
  ]
  return [{ role: 'assistant', content }]
}

/** The calls with their recorded results; those that are open are answered, made, or asked for. */
async function withOpenCalls(options: ContinueOptions, messages: ModelMessage[]): Promise<Continuation> {
  const { start, again, gate, opened, limits, approval } = options
  const results: ToolResultPart[] = (start.results ?? []).map(({ call_id, name, output, error }) =>
    toResult(call_id, name, error === undefined ? toldOutput(output, limits) : toldError(error, limits)),
  )
  const events: EmittedEvent[] = []
  const waiting: OpenCall[] = []
  for (const [place, call] of (start.open ?? []).entries()) {
    const known =
      place === 0 && again.edit.tool_output !== undefined
        ? ({ output: again.edit.tool_output } as Pick<RecordedCall, 'output' | 'error'>)
        : recorded(again, opened, call)
    if (known === undefined) {
      waiting.push(call)
      continue
    }
    const { call_id, name } = call
    const { output = null, error } = known
    results.push(toResult(call_id, name, error === undefined ? toldOutput(output, limits) : toldError(error, limits)))
    const outcome = error === undefined ? { output } : { error: { message: error } }
    events.push({ type: 'tool_result', call_id, name, ...outcome, duration_ms: 0 })
  }
  if (waiting.length === 0) return { messages: [...messages, { role: 'tool', content: results }], events, asks: [] }
  const asks = await asksFor(waiting, (call) => gate.asks(approval, { toolCall: toSdkCall(call), messages }), opened)
  const approvals = waiting
    .filter(({ name }) => opened.get(name)?.isClient !== true)
    .map((call) => ({ call, id: `again-${call.call_id}` }))
  const asked = withRequests(messages, approvals)
  const responses =
    asks.length > 0
      ? []
      : approvals.map(({ id }) => ({ type: 'tool-approval-response' as const, approvalId: id, approved: true }))
  const content = [...results, ...responses]
  return { messages: content.length === 0 ? asked : [...asked, { role: 'tool', content }], events, asks }
}

/** All of them, when one asks: the calls of one answer are decided together. */
async function asksFor(
  calls: readonly OpenCall[],
  needsPerson: (call: OpenCall) => Promise<boolean>,
  opened: OpenedTools,
): Promise<InputRequired[]> {
  const isClient = ({ name }: OpenCall) => opened.get(name)?.isClient === true
  const decisions = await Promise.all(calls.map((call) => (isClient(call) ? true : needsPerson(call))))
  if (!decisions.some(Boolean)) return []
  return calls.map((call) => ({
    type: 'input_required',
    call_id: call.call_id,
    kind: isClient(call) ? 'tool' : 'approval',
    tool: call.name,
    prompt: isClient(call)
      ? `Execute the tool '${call.name}' and send its output.`
      : `Allow the tool '${call.name}' to run? This run repeats another one.`,
    data: call.input,
  }))
}

function recorded({ record }: Again, opened: OpenedTools, { name, input }: OpenCall): RecordedCall | undefined {
  return opened.get(name)?.isInside ? undefined : record?.call(name, input)
}

function toResult(toolCallId: string, toolName: string, output: ToolResultPart['output']): ToolResultPart {
  return { type: 'tool-result', toolCallId, toolName, output }
}

function toSdkCall({ call_id, name, input }: OpenCall) {
  return { toolCallId: call_id, toolName: name, input }
}

/** In the model's own answer, where the AI SDK looks for them. */
function withRequests(
  messages: readonly ModelMessage[],
  approvals: readonly { call: OpenCall; id: string }[],
): ModelMessage[] {
  const place = messages.findLastIndex(({ role }) => role === 'assistant')
  return messages.map((message, at) => {
    if (at !== place || message.role !== 'assistant') return message
    const own =
      typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : message.content
    const requests = approvals.map(({ call, id }) => ({
      type: 'tool-approval-request' as const,
      approvalId: id,
      toolCallId: call.call_id,
    }))
    return { ...message, content: [...own, ...requests] }
  })
}

const mostTurns = 1000

/** The files that a prompt may name. */
async function storedFiles({ parts }: RunInput, context: RunContext): Promise<FilePart[]> {
  const files: FilePart[] = []
  const add = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) add(one)
    else if (isObject(value)) {
      if (typeof value.file_id === 'string' && typeof value.media_type === 'string')
        files.push(value as unknown as FilePart)
      else for (const one of Object.values(value)) add(one)
    }
  }
  add(parts)
  add(context.resumed?.events ?? [])
  add((await context.history(mostTurns)).map((message) => message.parts))
  return files
}

function hasDescribed(messages: unknown): boolean {
  let found = false
  mapFiles(messages, (part) => {
    found ||= part.size !== undefined
    return part
  })
  return found
}

/** The record has a file of a prompt by name, type and size. */
function withReferences(messages: unknown, stored: readonly FilePart[]): unknown {
  return mapFiles(messages, (part) => {
    if (part.size === undefined || inlineFile(part) !== undefined) return part
    const { mediaType, filename, size } = part
    const file = stored.find(
      (one) => one.media_type === mediaType && one.size === size && (filename === undefined || one.name === filename),
    )
    if (file === undefined) {
      throw new AppError(
        'run_failed',
        `A file of the prompt (${String(filename ?? mediaType)}) is not in the record. Run it again from its beginning.`,
      )
    }
    return { type: 'file', mediaType, ...(filename !== undefined && { filename }), data: referenceTo(file) }
  })
}
