import { expect, test } from 'vitest'
import { SessionPages } from '../../src/studio/state/sessions/session-pages.ts'
import { headOf } from '../support/studio/played-sessions.ts'

test('a hundred thousand sessions are read to their end while the page goes on', () => {
  const all = 100_000
  const pages = new SessionPages()
  const began = performance.now()
  for (let first = 0; first < all; first += 50) {
    const heads = Array.from({ length: 50 }, (_, place) => headOf(all - first - place))
    const next = first + 50 < all ? 'next' : null
    if (first === 0) pages.start(heads, next)
    else pages.add('next', heads, next)
    pages.forget(20, { first, last: first + 20 })
  }
  // It takes one second or less; with a look through all pages for each session it took 9 and more.
  expect(performance.now() - began).toBeLessThan(4000)
  expect([pages.length, pages.rows.length, pages.at(all - 1)?.id]).toEqual([all, 1000, 'ses_1'])
})
