import { readFileSync } from 'node:fs'

/*
 * The price table is a file beside this one, made by `npm run prices` from a package that others maintain. It is read when
 * the first cost is asked for.
 */

/** USD per million tokens: input, output, cached input, input written to a cache. What has no price of its own is `null` or absent. */
type ListedPrice = readonly [input: number, output: number, cached?: number | null, written?: number | null]

/**
 * From a day on (`2026-07-30`), or at a time of each day in UTC (`01:00-04:00`); null is always. Without a price, tokens alone
 * don't tell what a call costs. A call with more input than `above[0]` has the price after it.
 */
export type Period = readonly [
  when: string | null,
  price?: ListedPrice,
  above?: readonly [tokens: number, ...price: ListedPrice],
]

/** A test of a model's name: `=` is, `^` begins with, `$` ends with, `*` contains, `~` matches; a list is all (in it any, and so on). */
export type NameRule = string | readonly NameRule[]

/** The names that it is for (one of them), then its prices; the last period that fits counts. */
type Row = readonly [names: readonly NameRule[], ...periods: Period[]]

export interface PriceTable {
  source: string
  version: string
  /** The day on which this version was published. */
  as_of: string
  /** Where to look for a model that a provider's rows don't have. */
  otherwise: Readonly<Record<string, string>>
  providers: Readonly<Record<string, readonly Row[]>>
}

let shipped: PriceTable | undefined

export function shippedTable(): PriceTable {
  shipped ??= JSON.parse(readFileSync(new URL('./prices.json', import.meta.url), 'utf8')) as PriceTable
  return shipped
}

/** The periods of a model, by the first row that fits; also for a name whose date is written without dashes. */
export function findPeriods(table: PriceTable, provider: string, model: string): readonly Period[] | undefined {
  const name = model.toLowerCase().trim()
  const dated = name.replace(/-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[-:]|$)/g, '-$1-$2-$3')
  return find(table, provider, name) ?? (dated === name ? undefined : find(table, provider, dated))
}

function find(table: PriceTable, provider: string, name: string): readonly Period[] | undefined {
  const rows = Object.hasOwn(table.providers, provider) ? table.providers[provider] : undefined
  const row = rows?.find(([names]) => fitsAny(names, name))
  if (row !== undefined) return row.slice(1) as readonly unknown[] as readonly Period[]
  const other = Object.hasOwn(table.otherwise, provider) ? table.otherwise[provider] : undefined
  return other === undefined ? undefined : find(table, other, name)
}

function fitsAny(rules: readonly NameRule[], name: string): boolean {
  return rules.some((rule) => (typeof rule === 'string' ? fits(rule, name) : fitsAll(rule, name)))
}

function fitsAll(rules: readonly NameRule[], name: string): boolean {
  return rules.every((rule) => (typeof rule === 'string' ? fits(rule, name) : fitsAny(rule, name)))
}

function fits(rule: string, name: string): boolean {
  const text = rule.slice(1)
  switch (rule[0]) {
    case '=':
      return name === text
    case '^':
      return name.startsWith(text)
    case '$':
      return name.endsWith(text)
    case '*':
      return name.includes(text)
    case '~':
      return new RegExp(text).test(name)
    default:
      throw new Error(`The price table has the rule '${rule}', which has no meaning.`)
  }
}
