import { describe, expect, it } from 'vitest'
import {
  addPage,
  emptyList,
  keepInSight,
  maxRows,
  move,
  type Row,
  type RowList,
  remove,
  renew,
  wantsPage,
} from '../../../src/cli/browse/row-list.ts'

/** A row that was used at this minute. */
function row(key: string, minute: number): Row {
  const at = new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
  return {
    key,
    sessionId: key,
    hit: undefined,
    title: key,
    owner: undefined,
    runs: 1,
    last: undefined,
    at,
    words: '',
  }
}

const keys = ({ rows }: RowList) => rows.map(({ key }) => key).join('')
const list = (names: string, cursor: string | null = null) =>
  addPage(
    emptyList,
    [...names].map((name, place) => row(name, 50 - place)),
    cursor,
  )

describe('a list that is read page by page', () => {
  it('grows by pages, knows each row once and ends somewhere', () => {
    const two = addPage(list('abc', 'next'), [row('c', 1), row('d', 0)], null)
    expect(keys(two)).toBe('abcd')
    expect(two.cursor).toBeNull()
    const many = addPage(
      two,
      Array.from({ length: maxRows }, (_, place) => row(`x${place}`, 0)),
      'more',
    )
    expect(many.rows).toHaveLength(maxRows)
    expect(many.cursor).toBeNull()
  })

  it('puts what has changed at the top, keeps the older rows and the selected one', () => {
    const before = move(list('abcd', 'next'), 1)
    const after = renew(before, [row('e', 60), row('c', 55), row('a', 50)], 'newer')
    expect(keys(after)).toBe('ecabd')
    expect(after.rows[after.selected]?.key).toBe('b')
    expect(after.cursor).toBe('next')
  })

  it('forgets what was deleted elsewhere', () => {
    expect(keys(renew(list('abcd', 'next'), [row('a', 50), row('c', 48)], 'newer'))).toBe('acd')
    expect(keys(renew(list('abcd', 'next'), [row('d', 47)], null))).toBe('d')
    expect(renew(list('ab'), [], null)).toMatchObject({ rows: [], selected: 0, cursor: null })
  })

  it('goes on where the new first page ends when nothing else is left', () => {
    expect(renew(list('ab', 'old'), [row('c', 60)], 'new').cursor).toBe('old')
    expect(renew(list('ab', 'old'), [row('c', 9)], 'new').cursor).toBe('new')
    expect(renew(emptyList, [row('c', 9)], 'new').cursor).toBe('new')
  })

  it('takes out what is deleted, and selects what comes next', () => {
    const before = move(list('abcd'), 2)
    expect(remove(before, 'c')).toMatchObject({ selected: 2 })
    expect(remove(before, 'a')).toMatchObject({ selected: 1 })
    expect(remove(move(list('ab'), 1), 'b')).toMatchObject({ selected: 0 })
    expect(remove(list('a'), 'a')).toMatchObject({ rows: [], selected: 0 })
  })

  it('stays within its ends and keeps the selected row in sight', () => {
    const long = list('abcdefghij')
    const down = keepInSight(move(long, 6), 4)
    expect(down).toMatchObject({ selected: 6, top: 3 })
    expect(keepInSight(move(down, -2), 4)).toMatchObject({ selected: 4, top: 3 })
    expect(keepInSight(move(down, -Infinity), 4)).toMatchObject({ selected: 0, top: 0 })
    expect(keepInSight(move(down, Infinity), 4)).toMatchObject({ selected: 9, top: 6 })
    expect(keepInSight(move(down, Infinity), 20)).toMatchObject({ selected: 9, top: 0 })
    expect(keepInSight(move(emptyList, 3), 4)).toMatchObject({ selected: 0, top: 0 })
  })

  it('wants the next page before the selection has come to the end', () => {
    const long = list('abcdefghij', 'next')
    expect(wantsPage(long, 2)).toBe(false)
    expect(wantsPage(move(long, 6), 2)).toBe(true)
    expect(wantsPage(move(list('abcdefghij'), 9), 2)).toBe(false)
    expect(wantsPage(emptyList, 2)).toBe(true)
  })
})
