import { Option } from 'commander'
import { type SearchMode, searchModes } from '../../core/knowledge.ts'
import type { CommandModule } from '../command.ts'
import { withClient } from '../connect.ts'
import { addConnectFlags, type ConnectOptions, integerBetween } from '../flags.ts'
import { print, printJson, say } from '../output.ts'
import { formatPlace } from '../source-line.ts'
import { terminalLine } from '../terminal-text.ts'

interface SearchOptions extends ConnectOptions {
  limit?: number
  mode?: SearchMode
  collection?: string
}

const shownCharacters = 240

export const command: CommandModule<SearchOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .argument('<query...>', 'what to look for')
      .option('--limit <number>', 'how many passages, 1 to 100 (default: 10)', integerBetween(1, 100))
      .addOption(new Option('--mode <mode>', 'how to search').choices(searchModes))
      .option('--collection <name>', 'where to search'),
  async run(context, { limit, mode, collection, ...options }, ...words) {
    const { results } = await withClient(options, context, (client) =>
      client.knowledge.search(words.join(' '), { limit, mode, collection }, { signal: context.signal }),
    )
    if (options.json) for (const hit of results) printJson(hit)
    else if (results.length === 0) say('Nothing found.')
    for (const [index, hit] of options.json ? [] : results.entries()) {
      const text = terminalLine(hit.content)
      const excerpt = text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text
      print(`${index + 1}. ${formatPlace(hit)}  ${hit.score.toFixed(2)}\n   ${excerpt}\n`)
    }
    return undefined
  },
}
