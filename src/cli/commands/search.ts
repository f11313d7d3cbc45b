import { Option } from 'commander'
import { type HitExplanation, type SearchMode, searchModes } from '../../core/knowledge/knowledge.ts'
import { addConnectFlags, type ConnectOptions, integerBetween, repeated } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { sayIfEmpty } from '../knowledge/empty.ts'
import { filterFlag, filterWords, parseFilters } from '../knowledge/filters.ts'
import { formatRank } from '../runs/counts.ts'
import { skippedLines } from '../runs/retrieval.ts'
import { formatPlace } from '../runs/source-line.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'

interface SearchOptions extends ConnectOptions {
  limit?: number
  mode?: SearchMode
  collection?: string
  filter?: string[]
  context?: number
  explain?: boolean
}

const shownCharacters = 240

export const command: CommandModule<SearchOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .argument('<query...>', 'the words to search for')
      .option('--limit <number>', 'the number of passages, 1 to 100 (default: 10)', integerBetween(1, 100))
      .addOption(new Option('--mode <mode>', 'the search mode').choices(searchModes))
      .option(filterFlag, filterWords, repeated)
      .option(
        '--context <chunks>',
        'neighbouring chunks to show with each passage, 0 to 5 (default: 0)',
        integerBetween(0, 5),
      )
      .option('--explain', 'explain the rank of each passage')
      .option('--collection <name>', 'the collection to search'),
  async run(context, { limit, mode, collection, filter, context: around, explain, ...options }, ...words) {
    const filters = parseFilters(filter)
    const settings = { limit, mode, collection, filters, context: around, explain }
    const { signal } = context
    const results = await withClient(
      options,
      context,
      async (client, _url, connection) => {
        await connection.readSources(signal)
        const answer = await client.knowledge.search(words.join(' '), settings, { signal })
        for (const line of skippedLines(answer)) say(line)
        if (answer.count === 0 && options.json !== true) {
          say('Nothing found.')
          await sayIfEmpty(client, signal, collection)
        }
        return answer.results
      },
      { stays: true },
    )
    if (options.json) for (const hit of results) printJson(hit)
    for (const [index, hit] of options.json ? [] : results.entries()) {
      const text = terminalLine(hit.content)
      const excerpt = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
      print(`${index + 1}. ${formatPlace(hit)}  ${hit.score.toFixed(2)}\n   ${excerpt}\n`)
      if (hit.explain) print(`${explainHit(hit.explain)}\n`)
    }
    return undefined
  },
}

function explainHit(explain: HitExplanation): string {
  const place = (rank: number | null, score: number | null) =>
    rank === null ? 'not found' : formatRank({ rank, score: score ?? 0 })
  const line = explain.line === null ? '' : `line ${explain.line}: `
  return [
    `   keyword ${place(explain.keyword_rank, explain.keyword_score)}, vector ${place(explain.vector_rank, explain.vector_score)}, merged ${explain.rank}`,
    `   words: ${terminalLine(explain.words.join(' '))}`,
    `   ${line}${terminalLine(explain.text)}`,
  ].join('\n')
}
