import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server'
import type { Json } from '../core/json.ts'
import { contentOf, lastDataOf } from '../core/message.ts'
import type { Waiting } from '../core/run.ts'
import { jsonSize } from '../runtime/json-size.ts'
import { cut, mostCharacters } from './cut.ts'
import { uriOf } from './documents.ts'
import type { McpRun } from './port.ts'

const mostLinks = 100

/**
 * A run as the result of a tool. The structured content repeats the answer: some hosts give their model nothing else of a result
 * that has it. `approveByTool`: the host's model may decide.
 */
export function toResult(run: McpRun, approveByTool: boolean): CallToolResult {
  const { run_id, session_id, status, usage } = run
  const parts = run.messages.flatMap(({ role, parts }) => (role === 'assistant' ? parts : []))
  const answer = cut(contentOf(parts))
  const data = lastDataOf(parts)
  const next = nextOf(run, approveByTool)
  const sources = run.sources.slice(0, mostLinks)
  const isWhole = data === undefined || fits(data)
  const asks = run.waiting.map(toAsk)
  const structuredContent = {
    run_id,
    session_id,
    status,
    answer: answer.text,
    sources,
    usage,
    ...(data !== undefined && isWhole && { data }),
    ...((answer.cut || !isWhole || sources.length < run.sources.length || asks.some((ask) => ask.cut)) && {
      cut: true,
    }),
    ...(status === 'input_required' && { asks: asks.map(({ shown }) => shown) }),
    ...(next !== undefined && { next }),
  }
  const texts = [answer.text, next].filter((text) => text !== undefined && text !== '')
  const content: ContentBlock[] = texts.map((text) => ({ type: 'text', text: text as string }))
  if (content.length === 0) content.push({ type: 'text', text: '' })
  return {
    content: [...content, ...linksTo(sources)],
    structuredContent,
    ...((status === 'failed' || status === 'cancelled' || status === 'interrupted') && { isError: true }),
  }
}

function linksTo(sources: McpRun['sources']): ContentBlock[] {
  const documents = new Map(sources.map(({ document_id, source }) => [document_id, source]))
  return [...documents].map(([id, source]) => ({ type: 'resource_link', uri: uriOf(id), name: source }))
}

function fits(data: Json): boolean {
  return jsonSize(data, mostCharacters) <= mostCharacters
}

function toAsk({ call_id, kind, tool, prompt, data, schema }: Waiting) {
  const asked = cut(prompt)
  const isWhole = data === undefined || fits(data)
  return {
    shown: { call_id, kind, tool, prompt: asked.text, ...(isWhole && { data }), schema },
    cut: asked.cut || !isWhole,
  }
}

/** What is to be done next, or why nothing more comes; undefined for an answer. */
function nextOf(run: McpRun, approveByTool: boolean): string | undefined {
  const { run_id: id, status } = run
  switch (status) {
    case 'completed':
      return undefined
    case 'queued':
    case 'running':
      return `Still at work; call get_run with run_id ${id}.`
    case 'failed':
      return run.error?.message ?? 'The run failed.'
    case 'cancelled':
      return `The run was cancelled: ${run.cancellation_reason ?? 'requested'}.`
    case 'interrupted':
      return 'The run was interrupted because the server stopped while it was running.'
    case 'input_required':
      break
  }
  const asked = cut(run.waiting.map(({ prompt }) => prompt).join('\n')).text
  if (run.waiting.some(({ kind }) => kind === 'tool')) {
    return `${asked}\nThe run waits for a tool of the program that started it, and only that can answer.`
  }
  const isQuestion = run.waiting.every(({ kind }) => kind === 'input')
  if (isQuestion || approveByTool) return `${asked}\nTo answer, call answer_run with run_id ${id}.`
  return `${asked}\nA person must decide, with: npx agentserve runs resume ${id} --approve. Then call get_run with run_id ${id}.`
}
