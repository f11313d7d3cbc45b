import type { InputRequired, RunResumedEvent, Stamp } from '../../../core/event.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import type { Part, Role } from '../../../core/message.ts'
import type { RunRecord } from '../../../core/run.ts'
import { answerTo, kindOf } from '../../../core/waiting.ts'
import { requestId, wireCallId } from '../../call-id.ts'
import type { OpenAIServices } from '../openai.ts'
import { type FoundResponse, recordedEvents } from './find.ts'
import { asText } from './item.ts'
import { approvalId, itemId } from './item-id.ts'

/** What a response was asked with, oldest first; undefined when there is no such response. */
export async function inputItems(
  services: Pick<OpenAIServices, 'sessions'>,
  { run, stretch }: FoundResponse,
): Promise<JsonObject[] | undefined> {
  if (stretch === 1) return messagesOf(run)
  let asked: (InputRequired & Stamp)[] = []
  let number = 1
  for await (const page of recordedEvents(services, run)) {
    for (const event of page) {
      if (event.type === 'input_required') asked.push(event)
      if (event.type !== 'run_resumed' || event.from !== 'input_required') continue
      if (++number === stretch) return asked.map((request) => answerItem(request, event))
      asked = []
    }
  }
  return undefined
}

function messagesOf({ run_id, given, messages }: RunRecord): JsonObject[] {
  const input = messages.filter(({ role }) => role === 'user')
  return [...(given?.history ?? []), ...input].map(({ role, parts }, place) => ({
    id: itemId('msg', run_id, `input_${place}`),
    type: 'message',
    role,
    status: 'completed',
    content: parts.map((part) => contentOf(part, role)),
  }))
}

function contentOf(part: Part, role: Role): JsonObject {
  if (part.type !== 'file') {
    const text = part.type === 'text' ? part.text : JSON.stringify(part.data)
    return role === 'user' ? { type: 'input_text', text } : { type: 'output_text', text, annotations: [], logprobs: [] }
  }
  const { media_type, name = null, file_id = null, url = null } = part
  return media_type.startsWith('image/')
    ? { type: 'input_image', detail: 'auto', file_id, image_url: url }
    : { type: 'input_file', file_id, filename: name, file_url: url }
}

function answerItem(request: InputRequired & Stamp, resumed: RunResumedEvent & Stamp): JsonObject {
  const { run_id } = resumed
  const id = requestId(request)
  const { approved = false, reason = null, input, output, error } = answerTo(request.call_id, resumed)
  if (kindOf(request) === 'approval') {
    return {
      id: itemId('mcpa', run_id, id),
      type: 'mcp_approval_response',
      approval_request_id: approvalId(run_id, id),
      approve: approved,
      reason,
    }
  }
  const said: Json | undefined = kindOf(request) === 'tool' ? (error ?? output) : input
  return {
    id: itemId('fco', run_id, id),
    type: 'function_call_output',
    call_id: wireCallId(run_id, id),
    output: asText(said),
    status: 'completed',
  }
}
