import type {
  InputRequired,
  RunResumedEvent,
  Stamp,
  ToolCall,
  ToolInputDelta,
  ToolProgress,
  ToolResult,
} from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import { answerTo, kindOf } from '../../core/waiting.ts'
import { requestId } from '../call-id.ts'
import { type AgUiEvent, none } from './event.ts'
import { resultIdOf, toolCallIdOf } from './ids.ts'

export type Asked = InputRequired & Stamp

interface Call {
  toolCallId: string
  state: 'writing' | 'called' | 'ended'
  /** False for one of a child run, whose record has the outcome. */
  isOwn: boolean
}

/** Of the assistant's message that makes a call. */
type ParentId = () => string

/** The calls of tools in a run, and what of them a client must be told. */
export class AgUiCalls {
  readonly #calls = new Map<string, Call>()
  /** Calls of the caller's tools that are answered: the client that answered has the outcomes. */
  readonly #answered = new Set<string>()
  readonly #isHistory: boolean

  /** `isHistory`: for who was not there, and has no outcomes. */
  constructor(isHistory: boolean) {
    this.#isHistory = isHistory
  }

  idOf(request: Asked): string {
    return this.#calls.get(requestId(request))?.toolCallId ?? toolCallIdOf(request.run_id, requestId(request))
  }

  input({ name, text, ...stamp }: ToolInputDelta & Stamp, parentId: ParentId): readonly AgUiEvent[] {
    const known = this.#calls.get(stamp.call_id)
    if (known?.state === 'called') return none
    const opened = known?.state === 'writing' ? none : this.#start(stamp, name, 'writing', parentId)
    return [...opened, { type: 'TOOL_CALL_ARGS', toolCallId: this.#idOf(stamp.call_id), delta: text }]
  }

  call({ name, input, ...stamp }: ToolCall & Stamp, parentId: ParentId): readonly AgUiEvent[] {
    const known = this.#calls.get(stamp.call_id)
    // It was shown when the run asked about it.
    if (known?.state === 'called') return none
    if (known?.state === 'writing') {
      known.state = 'called'
      return [{ type: 'TOOL_CALL_END', toolCallId: known.toolCallId }]
    }
    return this.#whole(stamp, name, input, parentId)
  }

  progress({ call_id, name, output }: ToolProgress): readonly AgUiEvent[] {
    const value = { tool_call_id: this.#idOf(call_id), name, output }
    return this.#calls.has(call_id) ? [{ type: 'CUSTOM', name: 'agentserve.tool_progress', value }] : none
  }

  result({ name, output, error, ...stamp }: ToolResult & Stamp, parentId: ParentId): readonly AgUiEvent[] {
    const known = this.#calls.get(stamp.call_id)
    if (known !== undefined && this.#answered.delete(stamp.call_id) && !this.#isHistory) {
      known.state = 'ended'
      return none
    }
    // Nobody told of it.
    const shown = known === undefined || known.state === 'ended' ? this.#whole(stamp, name, {}, parentId) : none
    const ended: AgUiEvent[] =
      known?.state === 'writing' ? [{ type: 'TOOL_CALL_END', toolCallId: known.toolCallId }] : []
    return [
      ...shown,
      ...ended,
      this.#end(stamp.call_id, error === undefined ? textOf(output) : errorText(error.message)),
    ]
  }

  /** The call that a request is about, if it has not been shown. */
  ask(request: Asked, parentId: ParentId): readonly AgUiEvent[] {
    const { tool, data, child_run_id: child } = request
    const call_id = requestId(request)
    const known = this.#calls.get(call_id)
    if (tool === undefined || known?.state === 'called') return none
    if (known?.state === 'writing') {
      known.state = 'called'
      return [{ type: 'TOOL_CALL_END', toolCallId: known.toolCallId }]
    }
    return this.#whole({ ...request, call_id }, tool, data ?? {}, parentId, child === undefined)
  }

  /** The run goes on with answers to these requests. */
  answer(asked: readonly Asked[], resumed: RunResumedEvent): readonly AgUiEvent[] {
    return asked.flatMap((request) => {
      const call_id = requestId(request)
      const call = this.#calls.get(call_id)
      const kind = kindOf(request)
      if (call === undefined || kind === 'input') return []
      const answer = answerTo(request.call_id, resumed)
      if (kind === 'approval') {
        // The record of an own call has a result.
        if (call.isOwn) return []
        const given = {
          approved: answer.approved === true,
          ...(answer.reason !== undefined && { reason: answer.reason }),
        }
        return [this.#end(call_id, given.approved ? textOf(given) : errorText(answer.reason ?? 'It was not approved.'))]
      }
      if (call.isOwn) {
        this.#answered.add(call_id)
        return []
      }
      call.state = 'ended'
      if (!this.#isHistory) return []
      return [this.#end(call_id, answer.error === undefined ? textOf(answer.output) : errorText(answer.error))]
    })
  }

  /** Ends calls that the model never finished: a client may take them for its own. */
  unfinished(): readonly AgUiEvent[] {
    const events: AgUiEvent[] = []
    for (const [callId, { state, toolCallId }] of this.#calls) {
      if (state !== 'writing') continue
      events.push({ type: 'TOOL_CALL_END', toolCallId })
      events.push(this.#end(callId, errorText('The model did not finish the call.')))
    }
    return events
  }

  /** The same for calls without a result in a run that has completed. */
  open(): readonly AgUiEvent[] {
    const events: AgUiEvent[] = []
    for (const [callId, { state }] of this.#calls) {
      if (state === 'called') events.push(this.#end(callId, errorText('The run ended without a result of the call.')))
    }
    return events
  }

  #idOf(callId: string): string {
    return this.#calls.get(callId)?.toolCallId ?? ''
  }

  #start(
    { call_id, run_id, seq }: Stamp & { call_id: string },
    toolCallName: string,
    state: Call['state'],
    parentId: ParentId,
    isOwn = true,
  ): AgUiEvent[] {
    const again = this.#calls.has(call_id) ? seq : undefined
    const toolCallId = toolCallIdOf(run_id, call_id, again)
    this.#calls.set(call_id, { toolCallId, state, isOwn })
    return [{ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: parentId() }]
  }

  #whole(
    stamp: Stamp & { call_id: string },
    name: string,
    input: Json,
    parentId: ParentId,
    isOwn = true,
  ): readonly AgUiEvent[] {
    const opened = this.#start(stamp, name, 'called', parentId, isOwn)
    const toolCallId = this.#idOf(stamp.call_id)
    const delta = JSON.stringify(input)
    return [...opened, { type: 'TOOL_CALL_ARGS', toolCallId, delta }, { type: 'TOOL_CALL_END', toolCallId }]
  }

  #end(callId: string, content: string): AgUiEvent {
    const call = this.#calls.get(callId)
    if (call !== undefined) call.state = 'ended'
    const toolCallId = this.#idOf(callId)
    return { type: 'TOOL_CALL_RESULT', messageId: resultIdOf(toolCallId), toolCallId, content, role: 'tool' }
  }
}

function errorText(message: string): string {
  return `Error: ${message}`
}

function textOf(output: Json | undefined): string {
  return typeof output === 'string' ? output : output === undefined ? '' : JSON.stringify(output)
}
