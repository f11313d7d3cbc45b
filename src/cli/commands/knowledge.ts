import { Argument, Option } from 'commander'
import type { Client } from '../../client/client.ts'
import type { KnowledgeStatus } from '../../core/knowledge/knowledge.ts'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { formatKnowledgeConfig } from '../knowledge/config.ts'
import { deleteDocuments, listDocuments, showDocuments } from '../knowledge/documents.ts'
import { reindexWithProgress } from '../knowledge/reindex-progress.ts'
import { print, printJson } from '../terminal/output.ts'
import { formatTable } from '../terminal/table.ts'
import { terminalLine } from '../terminal/text.ts'

interface KnowledgeOptions extends ConnectOptions {
  embedder?: string
  collection?: string
}

const actions = ['status', 'list', 'show', 'delete', 'config', 'reindex']
const named = ['show', 'delete']

export const command: CommandModule<KnowledgeOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('[action]', 'the action').choices(actions).default('status'))
      .argument('[documents...]', 'with show and delete: sources or ids of documents')
      .option('--collection <name>', 'with list, show and delete: the collection')
      .addOption(
        new Option('--embedder <name>', 'with reindex: the embedder to use from now on').choices([
          'lexical',
          'transformers',
          'openai',
        ]),
      ),
  async run(context, { embedder, collection, ...options }, action = 'status', ...documents) {
    const { signal } = context
    const json = options.json === true
    if (action !== 'reindex' && embedder !== undefined)
      throw new UsageError('--embedder can only be used with reindex.')
    if (!named.includes(action) && documents.length > 0) throw new UsageError(`${action} takes no documents.`)
    if (named.includes(action) && documents.length === 0)
      throw new UsageError(`Name the documents, for example: knowledge ${action} docs/guide.md`)
    const work: Record<string, (client: Client) => Promise<void>> = {
      status: async ({ knowledge }) => showStatus(await knowledge.status({ signal }), json),
      reindex: async (client) => showStatus(await reindexWithProgress(client, embedder, signal), json),
      config: async ({ knowledge }) => {
        const config = await knowledge.config({ signal })
        if (json) printJson(config)
        else print(formatKnowledgeConfig(config))
      },
      list: (client) => listDocuments(client, { collection, json, signal }),
      show: (client) => showDocuments(client, documents, { collection, json, signal }),
      delete: (client) => deleteDocuments(client, documents, { collection, json, signal }),
    }
    await withClient(options, context, async (client) => work[action]?.(client))
    return undefined
  },
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
}
