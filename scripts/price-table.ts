import type { NameRule, Period, PriceTable } from '../src/models/prices/table.ts'

/*
 * The rows of @pydantic/genai-prices that agentserve needs, shorter: only prices of text tokens, and one price above a limit.
 * Whatever has another shape is an error, so that an update can't drop a price unseen.
 */

type Match = { [KIND in 'equals' | 'starts_with' | 'ends_with' | 'contains' | 'regex']?: string } & {
  or?: Match[]
  and?: Match[]
}
type Price = number | { base: number; tiers: { start: number; price: number }[] }
type Prices = Readonly<Record<string, Price | undefined>>
type Constraint =
  | { type: 'start_date'; start_date: string }
  | { type: 'time_of_date'; start_time: string; end_time: string }
interface Model {
  id: string
  match: Match
  prices: Prices | { constraint?: Constraint; prices: Prices }[]
}
export interface Provider {
  id: string
  models: Model[]
  fallback_model_providers?: string[]
}

/**
 * Their name of each provider that a model's name can have. OpenRouter is not among them: which of several prices a call had
 * depends on where it was sent to.
 */
const providerIds: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  google: 'google',
  mistral: 'mistral',
  deepseek: 'deepseek',
  xai: 'x-ai',
  groq: 'groq',
  cerebras: 'cerebras',
  fireworks: 'fireworks',
  togetherai: 'together',
}

export function priceTable(all: readonly Provider[], about: Omit<PriceTable, 'providers' | 'otherwise'>): PriceTable {
  const otherwise: Record<string, string> = {}
  const providers: Record<string, PriceTable['providers'][string]> = {}
  for (const [name, id] of Object.entries(providerIds)) {
    const provider = all.find((one) => one.id === id)
    if (provider === undefined) throw new Error(`There is no provider '${id}' any more.`)
    const [fallback, ...more] = provider.fallback_model_providers ?? []
    if (more.length > 0) throw new Error(`${id} has more than one fallback.`)
    if (fallback !== undefined) otherwise[name] = fallback
    providers[name] = provider.models.map((model) => [anyOf(model.match), ...periodsOf(model)])
  }
  return { ...about, otherwise, providers }
}

/** One line for each model, so that a change of a price is a changed line. */
export function printTable({ providers, ...about }: PriceTable): string {
  const lists = Object.entries(providers).map(([name, rows]) => {
    return `${JSON.stringify(name)}: [\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`
  })
  return `${JSON.stringify(about).slice(0, -1)},\n"providers": {\n${lists.join(',\n')}\n}}\n`
}

const signs = { equals: '=', starts_with: '^', ends_with: '$', contains: '*', regex: '~' } as const

function anyOf({ or, ...rest }: Match): NameRule[] {
  if (or === undefined) return [ruleOf(rest)]
  return or.flatMap(anyOf)
}

function ruleOf({ and, ...rest }: Match): NameRule {
  if (and !== undefined) return and.map((one) => (one.or === undefined ? ruleOf(one) : anyOf(one)))
  for (const [kind, sign] of Object.entries(signs)) {
    const text = rest[kind as keyof typeof signs]
    // A regular expression sees the name in small letters too.
    if (text !== undefined) return sign + (kind === 'regex' ? text : text.toLowerCase())
  }
  throw new Error(`Unknown rule: ${JSON.stringify(rest)}`)
}

function periodsOf({ id, prices }: Model): Period[] {
  const periods = Array.isArray(prices) ? prices : [{ prices }]
  return periods.map((period) => {
    const when = 'constraint' in period && period.constraint !== undefined ? whenOf(period.constraint) : null
    return isTextOnly(period.prices, id) ? [when, ...tokenPrices(period.prices, id)] : [when]
  })
}

function whenOf(constraint: Constraint): string {
  if (constraint.type === 'start_date') return constraint.start_date
  return [constraint.start_time, constraint.end_time].map(toMinute).join('-')
}

function toMinute(time: string): string {
  if (!/^\d\d:\d\d:00Z$/.test(time)) throw new Error(`'${time}' is no minute of UTC`)
  return time.slice(0, 5)
}

const tokenKeys = ['input_mtok', 'output_mtok', 'cache_read_mtok', 'cache_write_mtok'] as const
/** Parts of the input that a call's usage does not tell, and services beside the tokens: not counted. */
const uncounted =
  /^(?:input_(?:audio|image|video)_mtok|cache_(?:audio|image)_read_mtok|cache_write_1h_mtok|\w+_searches_kcount)$/
/** What a usage in tokens can't price. */
const otherwiseBilled =
  /^(?:output_(?:audio|image|video)_mtok|\w*(?:hours|kpages)|requests_kcount|\w+_messages_kcount)$/

function isTextOnly(prices: Prices, id: string): boolean {
  const keys = Object.keys(prices)
  const unknown = keys.find(
    (key) => !tokenKeys.some((known) => known === key) && !uncounted.test(key) && !otherwiseBilled.test(key),
  )
  if (unknown !== undefined) throw new Error(`${id} has the price '${unknown}', which the table has no place for.`)
  return (
    prices.input_mtok !== undefined &&
    prices.output_mtok !== undefined &&
    !keys.some((key) => otherwiseBilled.test(key))
  )
}

type Listed = NonNullable<Period[1]>

function tokenPrices(prices: Prices, id: string): [Listed] | [Listed, NonNullable<Period[2]>] {
  const all = tokenKeys.map((key) => prices[key])
  const base = listed(all.map((price) => (typeof price === 'object' ? price.base : price)))
  const tiered = all.filter((price) => typeof price === 'object')
  const [tier, ...more] = tiered.flatMap(({ tiers }) => tiers)
  if (tier === undefined) return [base]
  if (tiered.length !== more.length + 1 || more.some(({ start }) => start !== tier.start)) {
    throw new Error(`${id} has prices above more than one limit.`)
  }
  const higher = listed(all.map((price) => (typeof price === 'object' ? price.tiers[0]?.price : price)))
  return [base, [tier.start, ...higher]]
}

function listed([input = 0, output = 0, cached, written]: readonly (number | undefined)[]): Listed {
  if (written !== undefined) return [input, output, cached ?? null, written]
  return cached === undefined ? [input, output] : [input, output, cached]
}
