import { expect, test, vi } from 'vitest'
import type { PageClient } from '../../src/client/page.ts'
import { DocumentPages } from '../../src/studio/knowledge/document-pages.ts'

/** Documents are their numbers, newest first. */
function serve(all: number[]) {
  const reads: (string | undefined)[] = []
  const list = async (_filter: object, { cursor, limit = 20 }: { cursor?: string; limit?: number }) => {
    reads.push(cursor)
    const from = cursor === undefined ? all : all.filter((number) => number < Number(cursor))
    const page = from.slice(0, limit)
    const documents = page.map((number) => ({ document_id: `${number}` }))
    return { documents, count: page.length, next_cursor: page.length < from.length ? `${page.at(-1)}` : null }
  }
  const pages = new DocumentPages({ knowledge: { documents: { list } } } as unknown as PageClient)
  return { pages, reads, rows: () => pages.rows.value.map(({ document_id }) => Number(document_id)) }
}

const countdown = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, place) => from - place)

test('what was read stays when newer documents come, and goes on where it ended', async () => {
  const all = countdown(250, 1)
  const { pages, reads, rows } = serve(all)
  pages.show(undefined)
  await vi.waitFor(() => expect(rows()).toHaveLength(100))
  pages.more()
  await vi.waitFor(() => expect(rows()).toHaveLength(200))
  all.unshift(252, 251)
  all.splice(all.indexOf(240), 1)
  pages.refresh()
  await vi.waitFor(() => expect(rows()[0]).toBe(252))
  expect(rows()).toEqual([252, 251, ...countdown(250, 51).filter((number) => number !== 240)])
  pages.more()
  await vi.waitFor(() => expect(pages.hasMore).toBe(false))
  expect(rows()).toEqual(all)
  expect(reads).toEqual([undefined, '151', undefined, '51'])
})

test('when a whole page is new, the list begins anew', async () => {
  const all = countdown(150, 1)
  const { pages, rows } = serve(all)
  pages.show(undefined)
  await vi.waitFor(() => expect(rows()).toHaveLength(100))
  all.unshift(...countdown(400, 151))
  pages.refresh()
  await vi.waitFor(() => expect(rows()[0]).toBe(400))
  expect(rows()).toEqual(countdown(400, 301))
  expect(pages.hasMore).toBe(true)
})

test('a change while the first page is read is read after it', async () => {
  const all = [1]
  const { pages, reads, rows } = serve(all)
  pages.show(undefined)
  all.unshift(2)
  pages.refresh()
  await vi.waitFor(() => expect(reads).toHaveLength(2))
  await vi.waitFor(() => expect(rows()).toEqual([2, 1]))
})
