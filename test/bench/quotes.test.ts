import { beforeAll, describe, expect, it } from 'vitest'
import { measureQuotes, type SetFigures } from '../../bench/retrieval/quotes/measure.ts'
import { asTheProgram } from '../../bench/retrieval/quotes/run.ts'

/** Sets by which the weights of the fit were not chosen. */
describe('quotes from the documentation of pino and undici', () => {
  let figures: SetFigures[]
  beforeAll(async () => {
    figures = await measureQuotes(asTheProgram, ['pino', 'undici'])
  }, 120_000)

  const sum = (count: (set: SetFigures) => number) => figures.reduce((all, set) => all + count(set), 0)

  it('are from the section that answers, and hardly ever none for a question that is answered there', () => {
    const asked = sum(({ plain }) => plain.questions)
    expect(asked).toBeGreaterThan(50)
    expect(sum(({ plain }) => plain.silent)).toBeLessThanOrEqual(asked * 0.125)
    expect(sum(({ plain }) => plain.right)).toBeGreaterThanOrEqual(asked * 0.75)
    expect(sum(({ headings }) => headings.right)).toBeGreaterThanOrEqual(
      sum(({ headings }) => headings.questions) * 0.9,
    )
  })

  it('are given to at most a fifth of the questions about another product', () => {
    const strange = sum(({ foreign }) => foreign.questions)
    expect(strange).toBeGreaterThan(200)
    expect(sum(({ foreign }) => foreign.answered)).toBeLessThanOrEqual(strange * 0.2)
  })
})
