import type { OutputInterface } from 'ai'
import { AppError, messageOf } from '../../core/error.ts'
import type { EmittedEvent, ModelCallEnd } from '../../core/event.ts'
import type { JsonObject } from '../../core/json.ts'
import { compileJsonSchema } from '../../schema/json-schema.ts'
import { toJson } from '../base/json-value.ts'
import { loadSdk } from '../base/sdk.ts'
import { PartialData } from './partial-data.ts'
import { toSdkUsage } from './usage.ts'

/** True for every `output` but the AI SDK's `Output.text()`. */
export function isStructured(output: OutputInterface | undefined): output is OutputInterface {
  return output !== undefined && output.name !== 'text'
}

/** `output` without partial values: the AI SDK would parse the whole text again for each fragment. */
export function wholeOutput(output: OutputInterface): OutputInterface {
  return { ...output, parsePartialOutput: async ({ text }) => ({ partial: text }) }
}

/** The output that a caller's JSON schema asks for. Throws `invalid_request` for what is no JSON schema. */
export async function callersOutput(schema: JsonObject): Promise<OutputInterface> {
  const [{ Output, jsonSchema }, check] = await Promise.all([loadSdk(), compileJsonSchema(schema, 'output_schema')])
  return Output.object({
    schema: jsonSchema(schema, {
      validate(value) {
        const mistakes = check(value, 'data').map(({ path, message }) => `${path} ${message}`)
        return mistakes.length === 0
          ? { success: true, value }
          : { success: false, error: new Error(mistakes.join('; ')) }
      },
    }),
  })
}

/**
 * A model's events with the answer as one `data` event, checked by `output`, instead of its text; before it, `data_delta`
 * events show what has come. Text before tool calls stays text. An invalid answer fails the run and keeps its text.
 */
export async function* structured(
  events: AsyncIterable<EmittedEvent>,
  output: OutputInterface,
  schemaName = "the agent's `output` schema",
  now?: () => number,
): AsyncGenerator<EmittedEvent> {
  let held: EmittedEvent[] = []
  const partials = new PartialData(output, now)
  let text = ''
  let end: ModelCallEnd | undefined
  for await (const event of events) {
    if (event.type === 'text_delta') {
      held.push(event)
      text += event.text
      const partial = partials.isDue() ? await partials.read(text) : undefined
      if (partial !== undefined) yield { type: 'data_delta', data: partial }
      continue
    }
    if (event.type === 'model_call_start' || event.type === 'input_required') {
      yield* held
      held = []
      text = ''
    }
    if (event.type === 'model_call_end') end = event
    // Some models call tools with the reason `stop`.
    if (event.type === 'input_required') end = undefined
    yield event
  }
  // It stopped for tools or their approval: this was not the answer.
  if (end === undefined || end.finish_reason === 'tool-calls') return yield* held
  let data: unknown
  try {
    data = await output.parseCompleteOutput({ text }, contextOf(end))
  } catch (error) {
    yield* held
    throw misfit(error, end, schemaName)
  }
  yield { type: 'data', data: toJson(data) }
}

function contextOf({ usage, finish_reason }: ModelCallEnd) {
  const response = { id: '', timestamp: new Date(0), modelId: '' }
  return { response, usage: toSdkUsage(usage), finishReason: finish_reason as 'stop' }
}

function misfit(error: unknown, { finish_reason }: ModelCallEnd, schemaName: string): AppError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const cut = finish_reason === 'length' ? ' It was cut off at the output token limit.' : ''
  const why = messageOf(cause).slice(0, 1_000)
  return new AppError('run_failed', `The model's answer does not match ${schemaName}: ${why}.${cut}`, {
    cause: error,
  })
}
