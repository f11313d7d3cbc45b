import { expect, test, vi } from 'vitest'
import type { PageClient } from '../../src/client/page.ts'
import { OpenedDocument } from '../../src/studio/knowledge/opened-document.ts'

/** Answers when it is told to; an aborted call never does. */
function serve() {
  const waiting: (() => void)[] = []
  let updated_at = 'monday'
  const answer = (value: () => unknown, signal: AbortSignal) =>
    new Promise((resolve) => waiting.push(() => signal.aborted || resolve(value())))
  const knowledge = {
    documents: {
      get: (document_id: string, { signal }: { signal: AbortSignal }) =>
        answer(() => ({ document_id, updated_at }), signal),
    },
    chunks: (_id: string, { signal }: { signal: AbortSignal }) =>
      answer(() => ({ chunks: [{ chunk_id: updated_at }], next_cursor: null }), signal),
  }
  return {
    client: { knowledge } as unknown as PageClient,
    replace: () => {
      updated_at = 'tuesday'
    },
    async answerAll() {
      for (const give of waiting.splice(0)) give()
      await new Promise((resolve) => setImmediate(resolve))
    },
    waiting,
  }
}
const idsOf = ({ chunks }: OpenedDocument) => chunks.rows.value.map(({ chunk_id }) => chunk_id)

test('a change elsewhere while its chunks are read leaves none out', async () => {
  const server = serve()
  const opened = new OpenedDocument(server.client, 'doc_1')
  await server.answerAll()
  opened.read()
  await server.answerAll()
  await vi.waitFor(() => expect(server.waiting).toHaveLength(0), 10_000)
  expect(idsOf(opened)).toEqual(['monday'])
})

test('a replaced document has its new chunks', async () => {
  const server = serve()
  const opened = new OpenedDocument(server.client, 'doc_1')
  await server.answerAll()
  await server.answerAll()
  expect(idsOf(opened)).toEqual(['monday'])
  server.replace()
  opened.read()
  await server.answerAll()
  await server.answerAll()
  expect(idsOf(opened)).toEqual(['tuesday'])
})
