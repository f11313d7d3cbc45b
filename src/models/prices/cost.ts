import { localProviders, splitModelName } from '../../core/model.ts'
import type { Cost, ModelUsage, Usage } from '../../core/run.ts'
import { offlineModelName } from '../offline.ts'
import { periodDuring } from './period.ts'
import { findPeriods, type PriceTable } from './table.ts'

/** USD per million tokens. */
export interface TokenPrices {
  input: number
  output: number
  /** Default: `input`, for the next one too. */
  cachedInput?: number | undefined
  cacheWrite?: number | undefined
  /** Default: `output`. */
  reasoning?: number | undefined
}

/** The prices of a config by the name of the model as it is recorded. `local`: it runs on a machine of one's own and costs nothing. */
export type GivenPrices = Readonly<Record<string, TokenPrices | 'local'>>

export interface PriceSources {
  /** They win over the table. */
  given: GivenPrices
  table: () => PriceTable
}

/** The time in which the calls were made; `null`: not known. */
export interface CallTimes {
  from: string | null
  to: string | null
}

/** What these calls cost together. Null as soon as the cost of one part is not known: a sum is whole or it is none. */
export function costOf(sums: readonly ModelUsage[], times: CallTimes, prices: PriceSources): Cost | null {
  if (sums.length === 0) return null
  let usd = 0
  let as_of: string | null = null
  let isLocal = true
  for (const sum of sums) {
    const part = costOfModel(sum, times, prices)
    if (part === null) return null
    usd += part.usd
    as_of ??= part.as_of
    isLocal &&= part.local === true
  }
  return { usd: rounded(usd), as_of, ...(isLocal ? { local: true as const } : {}) }
}

/** What one call cost, or the calls of one model together. */
function costOfModel(sum: ModelUsage, times: CallTimes, { given, table }: PriceSources): Cost | null {
  const { model } = sum
  if (model === null) return null
  const own = findGiven(given, model)
  if (own === 'local' || (own === undefined && isLocalModel(model))) return { usd: 0, as_of: null, local: true }
  if (sum.unreported_calls !== undefined) return null
  if (own !== undefined) return toCost(billed(sum, own), null)
  const listed = table()
  const prices = listedPrices(sum, times, listed)
  return prices === undefined ? null : toCost(billed(sum, prices), listed.as_of)
}

/** A name may have more than the provider before its slash: `openai.responses`. */
function findGiven(given: GivenPrices, model: string): TokenPrices | 'local' | undefined {
  const [provider, name] = providerOf(model)
  return [model, `${provider}/${name}`].filter((key) => Object.hasOwn(given, key)).map((key) => given[key])[0]
}

/** A model of Ollama's cloud has a name that says so. */
function isLocalModel(model: string): boolean {
  const [provider, name] = providerOf(model)
  if (model === offlineModelName) return true
  return localProviders.some((local) => local === provider) && !/[:-]cloud$/.test(name)
}

const aliases: Readonly<Record<string, string>> = { vertex: 'google' }

function providerOf(model: string): [provider: string, name: string] {
  const [named, name] = splitModelName(model)
  const provider = named.split('.', 1)[0] ?? named
  return [Object.hasOwn(aliases, provider) ? (aliases[provider] ?? provider) : provider, name]
}

/** Undefined when the table does not have the model, or when the sum does not tell which of its prices were paid. */
function listedPrices(sum: ModelUsage, { from, to }: CallTimes, table: PriceTable): TokenPrices | undefined {
  const [provider, name] = providerOf(sum.model ?? '')
  const periods = findPeriods(table, provider, name)
  if (periods === undefined) return undefined
  const fromMs = from === null ? 0 : Date.parse(from)
  const toMs = to === null ? Number.POSITIVE_INFINITY : Date.parse(to)
  const [, price, above] = periodDuring(periods, fromMs, toMs) ?? []
  if (price === undefined) return undefined
  if (above === undefined) return toPrices(price)
  const [limit, ...higher] = above
  const { input_tokens: input, largest_input_tokens: largest = Number.POSITIVE_INFINITY } = sum
  if (Math.min(input, largest) <= limit) return toPrices(price)
  // One call used it all.
  return largest === input ? toPrices(higher) : undefined
}

function toPrices([input, output, cached, written]: readonly [number, number, (number | null)?, (number | null)?]) {
  return { input, output, cachedInput: cached ?? undefined, cacheWrite: written ?? undefined }
}

/** In millionths of a USD. Undefined for counts that contradict each other, such as more cached input than input. */
function billed(usage: Usage, prices: TokenPrices): number | undefined {
  const { input_tokens: input, output_tokens: output } = usage
  const { cached_input_tokens: cached = 0, cache_write_tokens: written = 0, reasoning_tokens: reasoning = 0 } = usage
  const fresh = input - cached - written
  const answer = output - reasoning
  if (![fresh, cached, written, answer, reasoning].every((count) => count >= 0)) return undefined
  return (
    fresh * prices.input +
    cached * (prices.cachedInput ?? prices.input) +
    written * (prices.cacheWrite ?? prices.input) +
    answer * prices.output +
    reasoning * (prices.reasoning ?? prices.output)
  )
}

function toCost(millionths: number | undefined, as_of: string | null): Cost | null {
  return millionths === undefined ? null : { usd: rounded(millionths / 1_000_000), as_of }
}

/** Without what binary fractions add; the smallest price of one token has ten places. */
function rounded(usd: number): number {
  return Number(usd.toFixed(12))
}
