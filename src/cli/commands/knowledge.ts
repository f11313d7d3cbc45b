import { Argument, Option } from 'commander'
import type { CommandModule } from '../command.ts'
import { withClient } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { addConnectFlags, type ConnectOptions } from '../flags.ts'
import { print, printJson } from '../output.ts'
import { formatTable } from '../table.ts'
import { terminalLine } from '../terminal-text.ts'

interface KnowledgeOptions extends ConnectOptions {
  embedder?: string
}

export const command: CommandModule<KnowledgeOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('[action]', 'what to do').choices(['status', 'reindex']).default('status'))
      .addOption(
        new Option('--embedder <name>', 'for reindex: the embedder from now on').choices([
          'lexical',
          'transformers',
          'openai',
        ]),
      ),
  async run(context, { embedder, ...options }, action = 'status') {
    if (action === 'status' && embedder !== undefined) throw new UsageError('--embedder goes with reindex.')
    const { signal } = context
    const status = await withClient(options, context, ({ knowledge }) =>
      action === 'reindex' ? knowledge.reindex(embedder, { signal }) : knowledge.status({ signal }),
    )
    if (options.json) printJson(status)
    else {
      const { provider, model, dimensions } = status.embedding_model
      const counts = [status.documents, status.chunks, status.vectors, status.pending].map(String)
      const name = terminalLine(provider === model ? model : `${provider} ${model}`)
      const row = [terminalLine(status.collection), ...counts, `${name} (${dimensions})`]
      print(formatTable(['COLLECTION', 'DOCUMENTS', 'CHUNKS', 'VECTORS', 'PENDING', 'EMBEDDER'], [row]))
    }
    return undefined
  },
}
