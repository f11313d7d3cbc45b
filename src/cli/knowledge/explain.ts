import type { Client } from '../../client/client.ts'
import type { SearchSettings } from '../../client/knowledge.ts'
import type { TracedRetrieval } from '../../core/events/trace.ts'
import { allOf, type Filters } from '../../core/knowledge/filter.ts'
import type { SearchHit, SearchMode, SearchResult } from '../../core/knowledge/knowledge.ts'
import { type Silence, silenceOf } from '../../core/knowledge/silence.ts'
import { UsageError } from '../command/exit.ts'
import { formatRetrieval } from '../runs/retrieval.ts'
import { formatPlace } from '../runs/source-line.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { tableColumns } from '../terminal/table.ts'
import { terminalLine } from '../terminal/text.ts'
import { sayIfEmpty } from './empty.ts'

export interface ExplainOptions {
  /** Search as this agent does. */
  agent?: string | undefined
  collection?: string | undefined
  filters?: Filters | undefined
  mode?: SearchMode | undefined
  limit?: number | undefined
  json: boolean
  signal: AbortSignal
}

type Settings = Pick<SearchSettings, 'collection' | 'filters' | 'limit' | 'mode'>

/** Says how a search comes to its results, and why each is where it is. */
export async function explainSearch(client: Client, query: string, options: ExplainOptions): Promise<void> {
  const { agent, json, signal, ...given } = options
  const settings = agent === undefined ? given : await settingsOf(client, agent, given, signal)
  const answer = await client.knowledge.search(query, { ...settings, explain: true }, { signal })
  if (json) {
    const abstained = abstainedIn(answer)
    printJson({ query, ...settings, ...answer, ...(abstained && { abstained }) })
    return
  }
  print(`${formatExplanation(query, settings, answer).join('\n')}\n`)
  if (answer.count > 0) return
  say('Nothing found.')
  await sayIfEmpty(client, signal, settings.collection)
}

/** The agent's own settings; what is given besides narrows its filters and replaces the others. */
async function settingsOf(client: Client, agent: string, given: Settings, signal: AbortSignal): Promise<Settings> {
  const { config } = await client.agents.get(agent, { include: 'config', signal })
  if (config.knowledge === null) throw new UsageError(`The agent '${agent}' does not search the knowledge base.`)
  const { limit, filters, collection } = config.knowledge
  return {
    limit: given.limit ?? limit,
    filters: allOf((filters as Filters | null) ?? undefined, given.filters),
    collection: given.collection ?? collection ?? undefined,
    mode: given.mode,
  }
}

/** As a run records it: why an agent without a model would quote nothing. */
function abstainedIn({ results, trace }: Pick<SearchResult, 'results' | 'trace'>): Silence | undefined {
  return results.length > 0 && trace?.fit ? silenceOf(trace.fit) : undefined
}

export function formatExplanation(
  query: string,
  { limit, filters }: Settings,
  answer: SearchResult,
  width = tableColumns(),
): string[] {
  const { results, mode, skipped, trace } = answer
  const abstained = abstainedIn(answer)
  const numbers = new Map(results.map(({ chunk_id }, at) => [chunk_id, at + 1]))
  const passages = (trace?.candidates ?? results).map((candidate) => {
    const index = numbers.get(candidate.chunk_id) ?? null
    return { ...candidate, index, told: index !== null }
  })
  const search: TracedRetrieval = {
    query,
    mode,
    passages,
    ...(limit !== undefined && { limit }),
    ...(filters !== undefined && { filters: filters as NonNullable<TracedRetrieval['filters']> }),
    ...(trace && { collection: trace.collection, words: trace.words, ...(trace.fit && { fit: trace.fit }) }),
    ...(trace?.rerank && { rerank: trace.rerank }),
    ...(skipped && { skipped }),
    ...(abstained && { abstained }),
  }
  return [...formatRetrieval(search, width), ...results.flatMap(formatHit)]
}

function formatHit(hit: SearchHit, at: number): string[] {
  const { explain } = hit
  if (explain === undefined) return []
  const words = explain.matches.length === 0 ? 'none of the words' : terminalLine(explain.matches.join(' '))
  const line = explain.line === null ? '' : `line ${explain.line}: `
  return ['', `[${at + 1}] ${formatPlace(hit)}`, `    words  ${words}`, `    ${line}${terminalLine(explain.text)}`]
}
