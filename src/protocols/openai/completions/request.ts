import { invalid } from '../../../core/error.ts'
import type { JsonObject } from '../../../core/json.ts'
import { type Fields, field, flagField, isFields, objectField, textField, wrong } from '../../fields.ts'
import { unsupported } from '../error.ts'
import { readFormat } from '../format.ts'
import { type Conversation, readMessages } from './messages.ts'

export interface CompletionRequest {
  /** The body as it was posted. */
  body: Fields
  /** The agent, team or workflow. */
  model: string
  conversation: Conversation
  stream: boolean
  includeUsage: boolean
  outputSchema: JsonObject | undefined
  metadata: Fields | undefined
  /** Who is behind the caller's key; an application may have many. */
  user: string | undefined
  /** Fields that the run does not use. */
  ignored: string[]
}

/** Settings of the model call, which are the agent's own. */
const modelSettings = ['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'stop', 'seed']

/** Reads the body of a chat completion. Unknown fields are ignored: clients have many. */
export function readCompletion(body: unknown): CompletionRequest {
  if (!isFields(body)) throw invalid('The body must be a JSON object with `model` and `messages`.')
  const model = textField(body, 'model')
  if (model === undefined) throw wrong('model', 'the id of an agent, team or workflow')
  refuseUnsupported(body)
  const options = objectField(body, 'stream_options')
  return {
    body,
    model,
    conversation: readMessages(body),
    stream: flagField(body, 'stream') ?? false,
    includeUsage: options !== undefined && field(options, 'include_usage') === true,
    outputSchema: readFormat(body.response_format, 'response_format'),
    metadata: objectField(body, 'metadata'),
    user: textField(body, 'user') || textField(body, 'safety_identifier') || undefined,
    ignored: modelSettings.filter((name) => field(body, name) !== undefined),
  }
}

function refuseUnsupported(body: Fields): void {
  const n = field(body, 'n') ?? 1
  if (n !== 1) throw cant('n', 'must be 1: an agent answers once')
  const logprobs = field(body, 'logprobs') ?? false
  if (logprobs !== false) throw cant('logprobs', 'can only be false')
  const modalities = field(body, 'modalities') ?? []
  if (!Array.isArray(modalities) || modalities.some((one) => one !== 'text')) {
    throw cant('modalities', "can only be ['text']")
  }
  if (field(body, 'audio') !== undefined) throw cant('audio', "isn't supported: agents answer with text")
  if (field(body, 'functions') !== undefined) throw cant('functions', "isn't supported. Send `tools` instead")
}

function cant(param: string, why: string) {
  return unsupported(`${param} ${why}.`, param)
}
