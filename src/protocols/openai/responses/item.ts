import type { SourceEvent } from '../../../core/event.ts'
import type { Json } from '../../../core/json.ts'

/* What is in a response. Names and shapes are OpenAI's. Ids are made of the run and the event or call that made the item. */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export type Annotation =
  | { type: 'file_citation'; file_id: string; filename: string; index: number }
  | { type: 'url_citation'; start_index: number; end_index: number; title: string; url: string }
  | { type: 'file_path'; file_id: string; index: number }

export interface OutputText {
  type: 'output_text'
  text: string
  annotations: Annotation[]
  logprobs: []
}

export interface MessageItem {
  id: string
  type: 'message'
  role: 'assistant'
  status: ItemStatus
  content: OutputText[]
}

export interface ReasoningItem {
  id: string
  type: 'reasoning'
  status: ItemStatus
  summary: { type: 'summary_text'; text: string }[]
}

export interface FileSearchItem {
  id: string
  type: 'file_search_call'
  status: ItemStatus
  queries: string[]
  results: { file_id: string; filename: string; score: number; text: string; attributes: object }[] | null
}

/** A tool that the agent calls itself. */
export interface ToolItem {
  id: string
  type: 'mcp_call'
  server_label: 'agentserve'
  name: string
  /** JSON. */
  arguments: string
  output: string | null
  error: string | null
  status: ItemStatus | 'failed'
  approval_request_id: string | null
}

export interface ApprovalItem {
  id: string
  type: 'mcp_approval_request'
  server_label: 'agentserve'
  name: string
  /** JSON. */
  arguments: string
}

/** A tool that the caller executes, or a question to the caller. */
export interface FunctionItem {
  id: string
  type: 'function_call'
  call_id: string
  name: string
  /** JSON. */
  arguments: string
  status: ItemStatus
}

export interface ImageItem {
  id: string
  type: 'image_generation_call'
  status: ItemStatus
  /** Base64. */
  result: string | null
}

export type OutputItem =
  | MessageItem
  | ReasoningItem
  | FileSearchItem
  | ToolItem
  | ApprovalItem
  | FunctionItem
  | ImageItem

/** Also an event of the stream, before it has its number. */
export interface ResponseEvent {
  type: `response.${string}`
  [field: string]: unknown
}

/** The name of the function with which a run asks its caller something. */
export const question = 'request_input'

export function outputText(text: string, annotations: Annotation[] = []): OutputText {
  return { type: 'output_text', text, annotations, logprobs: [] }
}

export function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

const mostAnnotations = 200
const marker = /\[(\d{1,4})\](?!\()/g

/**
 * The places where a text cites its sources, as [1] does. `all`: also sources that it does not cite, at its end. Offsets are those of
 * JavaScript strings.
 */
export function annotationsOf(text: string, sources: ReadonlyMap<number, SourceEvent>, all: boolean): Annotation[] {
  if (sources.size === 0) return []
  const annotations: Annotation[] = []
  const uncited = new Set(sources.keys())
  for (const match of text.matchAll(marker)) {
    const source = sources.get(Number(match[1]))
    if (source === undefined) continue
    uncited.delete(source.index)
    annotations.push(annotationOf(source, match.index, match.index + match[0].length))
    if (annotations.length === mostAnnotations) return annotations
  }
  if (!all) return annotations
  for (const index of uncited) {
    const source = sources.get(index)
    if (source !== undefined) annotations.push(annotationOf(source, text.length, text.length))
    if (annotations.length === mostAnnotations) break
  }
  return annotations
}

function annotationOf({ source, document_id }: SourceEvent, start: number, end: number): Annotation {
  return /^https?:\/\//i.test(source)
    ? { type: 'url_citation', start_index: start, end_index: end, title: source, url: source }
    : { type: 'file_citation', file_id: document_id, filename: source, index: start }
}
