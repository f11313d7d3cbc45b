import { z } from 'zod'
import type { GivenPrices, TokenPrices } from '../../models/prices/cost.ts'
import { choose, is, mustBe, oneOf, settings } from '../../schema/field.ts'

const price = () =>
  is<number>('a price in USD per million tokens', (value) => Number.isFinite(value) && Number(value) >= 0)

const tokenPrices = settings({
  input: price(),
  output: price(),
  /** Input from the provider's cache. Default: `input`. */
  cachedInput: price().optional(),
  /** Input that is put into the provider's cache. Default: `input`. */
  cacheWrite: price().optional(),
  /** Default: `output`. */
  reasoning: price().optional(),
})

const entry = choose<z.ZodType<TokenPrices | 'local', TokenPrices | 'local'>>((value) =>
  typeof value === 'string' ? oneOf(['local']) : tokenPrices,
)

/** By the model's name. They win over the shipped price table; `local` costs nothing. */
export const prices = (): z.ZodType<GivenPrices, GivenPrices> =>
  z
    .record(
      z.string(),
      entry,
      mustBe("an object with one entry per model, for example { 'openai/gpt-5': { input, output } }"),
    )
    .superRefine((given, context) => {
      // Another name would never be found, and its price never used.
      for (const name of Object.keys(given).filter((name) => !/^[^/]+\/./.test(name))) {
        const message = `must be named as in the record, provider/model, for example 'openai/${name}'`
        context.addIssue({ code: 'custom', path: [name], message })
      }
    })
