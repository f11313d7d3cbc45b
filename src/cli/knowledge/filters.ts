import {
  allOf,
  type FilterOperators,
  type Filters,
  type FilterValue,
  filterProblem,
} from '../../core/knowledge/filter.ts'
import { UsageError } from '../command/exit.ts'

/** The longer signs first. */
const operators = {
  '>=': 'gte',
  '<=': 'lte',
  '!=': 'ne',
  '^=': 'prefix',
  '>': 'gt',
  '<': 'lt',
  '=': 'eq',
} as const satisfies Record<string, keyof FilterOperators>
const form = /^([A-Za-z_][A-Za-z0-9_]*)\s*(>=|<=|!=|\^=|>|<|=)(.*)$/s

export const filterFlag = '--filter <key=value>'
export const filterWords =
  "only documents with this metadata, or '!=', '>', '>=', '<', '<=' and '^=' (below this folder) for '='; or a JSON object; repeatable"

/** All must match. Values that look like numbers, `true` or `false` are converted, except after `^=`. */
export function parseFilters(given: readonly string[] | undefined): Filters | undefined {
  const filters = allOf(...(given ?? []).map(parseOne))
  const problem = filters && filterProblem(filters)
  if (problem) throw new UsageError(`--filter: ${[problem.path.join('.'), problem.message].join(' ').trim()}.`)
  return filters
}

function parseOne(text: string): Filters {
  if (text.trimStart().startsWith('{')) {
    const parsed = parseJson(text)
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed as Filters
  }
  const [, key, sign, told = ''] = form.exec(text) ?? []
  if (key === undefined) throw new UsageError(`--filter must be key=value, key>=value or a JSON object, not '${text}'.`)
  const operator = operators[sign as keyof typeof operators]
  const value = operator === 'prefix' ? told : scalar(told)
  return { [key]: operator === 'eq' ? value : { [operator]: value } }
}

function scalar(text: string): FilterValue {
  const parsed = parseJson(text)
  return typeof parsed === 'boolean' || typeof parsed === 'number' ? parsed : text
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
