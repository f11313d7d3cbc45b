import type { TracedPassage, TracedRetrieval } from '../../core/events/trace.ts'
import type { Retrieval } from '../../core/knowledge/retrieval.ts'
import { count } from '../terminal/count.ts'
import { formatDuration } from '../terminal/duration.ts'
import { formatTable, tableColumns } from '../terminal/table.ts'
import { terminalJson, terminalLine } from '../terminal/text.ts'
import { formatCounts, formatRank } from './counts.ts'
import { formatLines } from './source-line.ts'

/** An agent's own code may record any names and words. */
const maxLists = 6
const maxFitWords = 20
const margin = '    '

/** How a search was made, and a row for each passage: the number by which the prompt has it, its places, where it is. */
export function formatRetrieval(retrieval: TracedRetrieval, width = tableColumns()): string[] {
  const { query, passages } = retrieval
  return [
    `  searched  ${terminalLine(query)}`,
    `            ${[formatCounts(passages, retrieval.duration_ms), ...settingsOf(retrieval)].join('  ')}`,
    ...wordsOf(retrieval),
    ...rerankingOf(retrieval),
    ...skippedLines(retrieval).map((line) => `  skipped   ${line}`),
    ...fitOf(retrieval),
    ...silenceOf(retrieval),
    ...formatPassages(passages, width),
    ...(retrieval.mode === undefined ? ['    (an older record: it has no more of this search)'] : []),
  ]
}

function settingsOf({ mode, limit, collection, filters }: TracedRetrieval): string[] {
  return [
    ...(mode === undefined ? [] : [mode]),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
    ...(collection === undefined ? [] : [`collection ${collection}`]),
    ...(filters === undefined ? [] : [`filters ${terminalJson(filters)}`]),
  ].map(terminalLine)
}

function wordsOf({ words }: TracedRetrieval): string[] {
  return words === undefined || words.length === 0 ? [] : [`  words     ${terminalLine(words.join(' '))}`]
}

/** How well the passages fit, and the words of the query, rarest first: what kept an agent silent is told by them. */
function fitOf({ fit }: TracedRetrieval): string[] {
  if (fit === undefined) return []
  const { score, threshold, coverage, similarity, agreement, lead, words } = fit
  const parts = [
    ['coverage', coverage],
    ['similarity', similarity],
    ['agreement', agreement],
    ['lead', lead],
  ].flatMap(([name, value]) => (typeof value === 'number' ? [`${name} ${value.toFixed(2)}`] : []))
  const rarest = words.toSorted((one, other) => one.chunks - other.chunks).slice(0, maxFitWords)
  const counts = rarest.map(({ word, chunks, as }) => `${word}${as === undefined ? '' : ` (${as})`} ${chunks}`)
  return [
    `  fit       ${[`${score.toFixed(2)} (${threshold.toFixed(2)} to be quoted)`, ...parts].join('  ')}`,
    ...(counts.length === 0
      ? []
      : [`            of ${fit.chunks} chunk${fit.chunks === 1 ? '' : 's'}: ${terminalLine(counts.join(', '))}`]),
  ]
}

/** What a search had to do without. */
export function skippedLines({ skipped = [] }: Pick<Retrieval, 'skipped'>): string[] {
  return skipped.map(({ list, reason }) => terminalLine(`Without the list '${list}': ${reason}`))
}

function rerankingOf({ rerank }: Pick<Retrieval, 'rerank'>): string[] {
  if (rerank === undefined) return []
  const { model, candidates, duration_ms, skipped } = rerank
  const done = `${count(candidates, 'passage')} by ${model} in ${formatDuration(duration_ms)}`
  return [`  reranked  ${terminalLine(skipped === undefined ? done : `no: ${skipped}`)}`]
}

function silenceOf({ abstained }: Pick<Retrieval, 'abstained'>): string[] {
  if (abstained === undefined) return []
  const { reason, score, threshold } = abstained
  return [`  silent    ${terminalLine(reason)} (${score.toFixed(2)}, needed ${threshold.toFixed(2)})`]
}

function formatPassages(passages: readonly TracedPassage[], width: number | undefined): string[] {
  if (passages.length === 0) return []
  const lists = [...new Set(passages.flatMap((passage) => Object.keys(passage.lists ?? {})))].slice(0, maxLists)
  const columns: [head: string, cell: (passage: TracedPassage) => string | undefined][] = [
    ['#', toldAs],
    ['RANK', ({ rank }) => rank?.toString()],
    ['SCORE', ({ score }) => score.toFixed(3)],
    ['WEIGHT', ({ weight }) => weight?.toString()],
    ...lists.map((name): [string, (passage: TracedPassage) => string | undefined] => [
      terminalLine(name).toUpperCase(),
      (passage) => {
        const place = passage.lists?.[name]
        return place === undefined ? '-' : formatRank(place)
      },
    ]),
    ['WHERE', formatLines],
  ]
  const shown = columns.filter(([, cell]) => passages.some((passage) => cell(passage) !== undefined))
  const rows = passages.map((passage) => shown.map(([, cell]) => cell(passage) ?? ''))
  const head = shown.map(([name]) => name)
  const table = formatTable(head, rows, width === undefined ? undefined : width - margin.length)
  return table.trimEnd().replace(/^/gm, margin).split('\n')
}

function toldAs({ index, told }: TracedPassage): string {
  if (index !== null) return `[${index}]`
  return told ? 'told' : '-'
}
