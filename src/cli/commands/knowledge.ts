import { Argument, Option } from 'commander'
import type { Client } from '../../client/client.ts'
import { type KnowledgeStatus, type SearchMode, searchModes } from '../../core/knowledge/knowledge.ts'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions, integerBetween, repeated } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { formatKnowledgeConfig } from '../knowledge/config.ts'
import { deleteDocuments, listDocuments, showDocuments } from '../knowledge/documents.ts'
import { explainSearch } from '../knowledge/explain.ts'
import { filterFlag, filterWords, parseFilters } from '../knowledge/filters.ts'
import { reindexWithProgress } from '../knowledge/reindex-progress.ts'
import { print, printJson } from '../terminal/output.ts'
import { formatTable } from '../terminal/table.ts'
import { terminalLine } from '../terminal/text.ts'

interface KnowledgeOptions extends ConnectOptions {
  embedder?: string
  collection?: string
  agent?: string
  filter?: string[]
  mode?: SearchMode
  limit?: number
}

const actions = ['status', 'list', 'show', 'delete', 'explain', 'config', 'reindex']
const named = ['show', 'delete']

export const command: CommandModule<KnowledgeOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('[action]', 'the action').choices(actions).default('status'))
      .argument(
        '[documents...]',
        'with show and delete: sources or ids of documents; with explain: the words to search for',
      )
      .option('--collection <name>', 'with list, show, delete and explain: the collection')
      .option('--agent <agentId>', 'with explain: search with the settings of this agent')
      .option(filterFlag, `with explain: ${filterWords}`, repeated)
      .addOption(new Option('--mode <mode>', 'with explain: the search mode').choices(searchModes))
      .option('--limit <number>', 'with explain: the number of passages, 1 to 100', integerBetween(1, 100))
      .addOption(
        new Option('--embedder <name>', 'with reindex: the embedder to use from now on').choices([
          'static',
          'lexical',
          'transformers',
          'openai',
        ]),
      ),
  async run(context, { embedder, collection, agent, filter, mode, limit, ...options }, action = 'status', ...words) {
    const { signal } = context
    const json = options.json === true
    if (action !== 'reindex' && embedder !== undefined)
      throw new UsageError('--embedder can only be used with reindex.')
    for (const [flag, value] of Object.entries({ agent, filter, mode, limit }))
      if (action !== 'explain' && value !== undefined) throw new UsageError(`--${flag} can only be used with explain.`)
    assertWords(action, words)
    const settings = { agent, collection, filters: parseFilters(filter), mode, limit, json, signal }
    const work: Record<string, (client: Client) => Promise<void>> = {
      status: async ({ knowledge }) => showStatus(await knowledge.status({ signal }), json),
      reindex: async (client) => showStatus(await reindexWithProgress(client, embedder, signal), json),
      config: async ({ knowledge }) => {
        const config = await knowledge.config({ signal })
        if (json) printJson(config)
        else print(formatKnowledgeConfig(config))
      },
      list: (client) => listDocuments(client, { collection, json, signal }),
      show: (client) => showDocuments(client, words, { collection, json, signal }),
      explain: (client) => explainSearch(client, words.join(' '), settings),
      delete: (client) => deleteDocuments(client, words, { collection, json, signal }),
    }
    await withClient(options, context, async (client) => work[action]?.(client))
    return undefined
  },
}

function assertWords(action: string, words: readonly string[]): void {
  if (action === 'explain') {
    if (words.length === 0)
      throw new UsageError('Say what to search for, for example: knowledge explain "opening hours"')
    return
  }
  if (!named.includes(action) && words.length > 0) throw new UsageError(`${action} takes no documents.`)
  if (named.includes(action) && words.length === 0)
    throw new UsageError(`Name the documents, for example: knowledge ${action} docs/guide.md`)
}

function showStatus(status: KnowledgeStatus, json: boolean): void {
  if (json) {
    printJson(status)
    return
  }
  const { provider, model, dimensions } = status.embedding_model
  const counts = [status.documents, status.chunks, status.vectors, status.pending].map(String)
  const name = terminalLine(provider === model ? model : `${provider} ${model}`)
  const row = [terminalLine(status.collection), ...counts, `${name} (${dimensions})`]
  print(formatTable(['COLLECTION', 'DOCUMENTS', 'CHUNKS', 'VECTORS', 'PENDING', 'EMBEDDER'], [row]))
  if (status.sources === undefined) return
  const sources = status.sources.map(({ source, state, documents, failed, next_at, reason }) =>
    [source, state, String(documents), String(failed), next_at ?? '', reason ?? ''].map(terminalLine),
  )
  print(`\n${formatTable(['SOURCE', 'STATE', 'DOCUMENTS', 'FAILED', 'NEXT', 'REASON'], sources)}`)
}
