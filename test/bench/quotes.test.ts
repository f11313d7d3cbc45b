import { beforeAll, describe, expect, it } from 'vitest'
import { measureQuotes, type SetFigures } from '../../bench/retrieval/quotes/measure.ts'
import { asTheProgram } from '../../bench/retrieval/quotes/run.ts'

/** Sets by which the weights of the fit were not chosen. */
describe('quotes from the documentation of pino and undici', () => {
  let figures: SetFigures[]
  beforeAll(async () => {
    figures = await measureQuotes(asTheProgram, ['pino', 'undici'])
  }, 120_000)

  it('are from the section that answers, and hardly ever none for a question that is answered there', () => {
    for (const { plain, headings } of figures) {
      expect(plain.silent).toBeLessThanOrEqual(plain.questions * 0.1)
      expect(plain.right).toBeGreaterThanOrEqual(plain.questions * 0.6)
      expect(headings.right).toBeGreaterThanOrEqual(headings.questions * 0.9)
    }
  })

  it('are given to at most a fifth of the questions about another product', () => {
    for (const { foreign } of figures) {
      expect(foreign.questions).toBeGreaterThan(100)
      expect(foreign.answered).toBeLessThanOrEqual(foreign.questions * 0.2)
    }
  })
})
