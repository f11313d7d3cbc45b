import { expect, test, vi } from 'vitest'
import { Pages } from '../../src/studio/knowledge/pages.ts'

/** Numbers, the largest first. */
function serve(all: number[]) {
  const reads: (string | undefined)[] = []
  const pages = new Pages<number>(async ({ cursor, limit }) => {
    reads.push(cursor)
    const from = cursor === undefined ? all : all.filter((number) => number < Number(cursor))
    const page = from.slice(0, limit)
    return [page, page.length < from.length ? `${page.at(-1)}` : null]
  }, String)
  return { pages, reads, rows: () => pages.rows.value }
}

const countdown = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, place) => from - place)

test('what was read stays when newer documents come, and goes on where it ended', async () => {
  const all = countdown(250, 1)
  const { pages, reads, rows } = serve(all)
  pages.reset()
  await vi.waitFor(() => expect(rows()).toHaveLength(100), 10_000)
  pages.more()
  await vi.waitFor(() => expect(rows()).toHaveLength(200), 10_000)
  all.unshift(252, 251)
  all.splice(all.indexOf(240), 1)
  pages.refresh()
  await vi.waitFor(() => expect(rows()[0]).toBe(252), 10_000)
  expect(rows()).toEqual([252, 251, ...countdown(250, 51).filter((number) => number !== 240)])
  pages.more()
  await vi.waitFor(() => expect(pages.next.value).toBe(null), 10_000)
  expect(rows()).toEqual(all)
  expect(reads).toEqual([undefined, '151', undefined, '51'])
})

test('when a whole page is new, the list begins anew', async () => {
  const all = countdown(150, 1)
  const { pages, rows } = serve(all)
  pages.reset()
  await vi.waitFor(() => expect(rows()).toHaveLength(100), 10_000)
  all.unshift(...countdown(400, 151))
  pages.refresh()
  await vi.waitFor(() => expect(rows()[0]).toBe(400), 10_000)
  expect(rows()).toEqual(countdown(400, 301))
  expect(pages.next.value).toBe('301')
})

test('a change while the first page is read is read after it', async () => {
  const all = [1]
  const { pages, reads, rows } = serve(all)
  pages.reset()
  all.unshift(2)
  pages.refresh()
  await vi.waitFor(() => expect(reads).toHaveLength(2), 10_000)
  await vi.waitFor(() => expect(rows()).toEqual([2, 1]), 10_000)
})

test('why another list could not be read is not told of this one', async () => {
  let isBroken = true
  const pages = new Pages<number>(async () => {
    if (isBroken) throw new Error('broken')
    return [[1], null]
  }, String)
  pages.reset()
  await vi.waitFor(() => expect(pages.error.value).toBe('broken'), 10_000)
  isBroken = false
  pages.reset()
  expect(pages.error.value).toBe('')
  await vi.waitFor(() => expect(pages.rows.value).toEqual([1]), 10_000)
})
