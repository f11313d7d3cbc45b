import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Column, endPlace, moveBack, moveOn, type Place, readPage, start } from '../../../src/cli/browse/scroll.ts'

/** Lines are numbered through; each number is how many lines an entry has. */
function column(runs: readonly (readonly number[])[]): Column & { all: string[] } {
  let count = 0
  const lines = runs.map((entries) => entries.map((most) => Array.from({ length: most }, () => `${count++}`)))
  return {
    runs: runs.length,
    entries: (run) => lines[run]?.length ?? 1,
    lines: (run, entry) => lines[run]?.[entry] ?? [],
    all: lines.flat(2),
  }
}

const shape = fc.array(fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 })
const height = fc.integer({ min: 1, max: 7 })

function firstLine(one: ReturnType<typeof column>, place: Place): number {
  const [first] = readPage(one, place, 1).lines
  return first === undefined ? one.all.length : Number(first)
}

describe('a window on runs and their entries', () => {
  it('shows what follows its place, and knows whether that is the end', () => {
    const one = column([[2, 1], [3], [0, 2]])
    expect(readPage(one, { run: 0, entry: 0, line: 1 }, 3)).toEqual({
      lines: ['1', '2', '3'],
      firstRun: 0,
      lastRun: 1,
      atEnd: false,
    })
    expect(readPage(one, { run: 1, entry: 0, line: 1 }, 4)).toMatchObject({ lines: ['4', '5', '6', '7'], atEnd: true })
    expect(readPage(one, { run: 1, entry: 0, line: 2 }, 4)).toMatchObject({ lines: ['5', '6', '7'], atEnd: true })
  })

  it('is empty where there is nothing', () => {
    const nothing = column([])
    expect(endPlace(nothing, 5)).toEqual(start)
    expect(moveOn(nothing, start, 1, 5)).toEqual(start)
  })

  it('moves by lines, however they are spread, and stops at both ends', () => {
    fc.assert(
      fc.property(shape, height, fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 20 }), (runs, rows, moves) => {
        const one = column(runs)
        const last = Math.max(0, one.all.length - rows)
        let place = start
        let expected = 0
        for (const by of moves) {
          place = by < 0 ? moveBack(one, place, -by) : moveOn(one, place, by, rows)
          expected = Math.max(0, Math.min(last, expected + by))
          const page = readPage(one, place, rows)
          expect(page.lines).toEqual(one.all.slice(expected, expected + rows))
          expect(page.atEnd).toBe(expected >= last)
        }
        expect(firstLine(one, endPlace(one, rows))).toBe(last)
      }),
    )
  })
})
