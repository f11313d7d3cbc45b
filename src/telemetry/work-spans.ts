import type { Stamp, StepEnd, StepStart, ToolCall, ToolResult } from '../core/event.ts'
import type { Retrieval } from '../core/knowledge/retrieval.ts'
import { jsonText, listText } from './contents.ts'
import { type AttributeValue, attributesOf, type SpanDraft } from './draft.ts'
import type { EndedRun } from './run-spans.ts'
import { spanIdOf, spanIdOfChildStep } from './trace-context.ts'

/** The run that the work belongs to, and what is told of it. */
export interface Work {
  run: Pick<EndedRun, 'run_id' | 'session_id'>
  firstSeq: number
  withContents: boolean
  maxCharacters: number
}

export type ToolCalled = ToolCall & Stamp

/** Undefined for a call that was not made. */
export function toolSpan(
  work: Work,
  result: ToolResult & Stamp,
  call: Pick<ToolCalled, 'input'> | undefined,
): SpanDraft | undefined {
  if (result.denied === true) return undefined
  const { at, duration_ms, error, output } = result
  const endMs = Date.parse(at)
  const { withContents, maxCharacters } = work
  const failure =
    error === undefined ? undefined : { type: 'tool_error', message: withContents ? error.message : undefined }
  return toolSpanOf(work, result, endMs - duration_ms, endMs, failure, {
    'gen_ai.tool.call.arguments': withContents && call ? jsonText(call.input, maxCharacters) : undefined,
    'gen_ai.tool.call.result': withContents && output !== undefined ? jsonText(output, maxCharacters) : undefined,
  })
}

/** A call that was at work when the run ended. */
export function cutToolSpan(work: Work, call: ToolCalled, endMs: number, failure: SpanDraft['failure']): SpanDraft {
  const { withContents, maxCharacters } = work
  return toolSpanOf(work, call, Date.parse(call.at), endMs, failure, {
    'gen_ai.tool.call.arguments': withContents ? jsonText(call.input, maxCharacters) : undefined,
  })
}

function toolSpanOf(
  { run, firstSeq }: Work,
  { call_id, name }: Pick<ToolCall, 'call_id' | 'name'>,
  startMs: number,
  endMs: number,
  failure: SpanDraft['failure'],
  contents: Record<string, AttributeValue | undefined>,
): SpanDraft {
  return {
    spanId: spanIdOf(run.run_id, 'tool', call_id, firstSeq),
    name: `execute_tool ${name}`,
    kind: 'internal',
    startMs,
    endMs,
    attributes: attributesOf({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': call_id,
      'gen_ai.tool.type': 'function',
      'gen_ai.conversation.id': run.session_id,
      ...contents,
    }),
    failure,
  }
}

export function retrievalSpan({ run, withContents, maxCharacters }: Work, event: Retrieval & Stamp): SpanDraft {
  const { at, seq, collection, limit, duration_ms = 0, query, results } = event
  const endMs = Date.parse(at)
  const documents = results.map(({ chunk_id, document_id, score }) => ({ id: document_id ?? chunk_id, score }))
  return {
    spanId: spanIdOf(run.run_id, 'retrieval', seq),
    name: collection === undefined ? 'retrieval' : `retrieval ${collection}`,
    kind: 'client',
    startMs: endMs - duration_ms,
    endMs,
    attributes: attributesOf({
      'gen_ai.operation.name': 'retrieval',
      'gen_ai.data_source.id': collection,
      'gen_ai.retrieval.top_k': limit,
      'gen_ai.conversation.id': run.session_id,
      'gen_ai.retrieval.query.text': withContents ? query : undefined,
      'gen_ai.retrieval.documents': withContents ? listText(documents, maxCharacters) : undefined,
    }),
  }
}

/** The conventions have no span for a step. `end`: absent where the run ended or paused first, at `endMs`. */
export function stepSpan(
  { run, firstSeq, withContents }: Work,
  start: StepStart & Stamp,
  end: (StepEnd & Stamp) | undefined,
  endMs = 0,
  cut?: SpanDraft['failure'],
): SpanDraft {
  const { step_id, name, parent_id, child_run_id, kind, at } = start
  const failed = end?.status === 'failed'
  const message = withContents ? end?.error?.message : undefined
  const idOf = (step: string) => spanIdOf(run.run_id, 'step', step, firstSeq)
  return {
    spanId: child_run_id === undefined ? idOf(step_id) : spanIdOfChildStep(child_run_id, firstSeq),
    parentSpanId: parent_id === undefined ? undefined : idOf(parent_id),
    name: `step ${name}`,
    kind: 'internal',
    startMs: Date.parse(at),
    endMs: end === undefined ? endMs : Date.parse(end.at),
    attributes: attributesOf({
      'agentserve.step.id': step_id,
      'agentserve.step.name': name,
      'agentserve.step.kind': kind,
      'agentserve.step.status': end?.status,
      'agentserve.child_run.id': child_run_id,
      'gen_ai.conversation.id': run.session_id,
    }),
    failure: end === undefined ? cut : failed ? { type: 'step_failed', message } : undefined,
  }
}
