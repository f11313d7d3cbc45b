import { expect, it } from 'vitest'
import type { SearchResult } from '../../src/core/knowledge/knowledge.ts'
import { search } from '../../src/mcp/documents.ts'
import type { McpPort } from '../../src/mcp/port.ts'

const answering = (answer: Partial<SearchResult>) => {
  const port = { search: async () => ({ results: [], ...answer }) } as unknown as McpPort
  const given = { text: () => 'anchor', integer: () => undefined } as never
  return search(port, given, new AbortController().signal)
}

it('says which lists a search had to do without, as text and as a value', async () => {
  const skipped = [{ list: 'keyword', reason: 'Searching for words took the database longer than 2 s.' }]
  const { content, structuredContent } = await answering({ skipped })
  expect(structuredContent).toEqual({ results: [], skipped })
  expect(content).toEqual([{ type: 'text', text: JSON.stringify({ results: [], skipped }) }])
})

it('says nothing of lists when none was left out', async () => {
  expect((await answering({})).structuredContent).toEqual({ results: [] })
})
