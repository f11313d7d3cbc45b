import type { CommandModule } from '../command.ts'
import { withClient } from '../connect.ts'
import { UsageError } from '../exit.ts'
import { exit } from '../exit-codes.ts'
import { addConnectFlags, type ConnectOptions, integerBetween } from '../flags.ts'
import { type FileResult, ingestFiles } from '../ingest-files.ts'
import { printJson, say } from '../output.ts'
import { createProgress } from '../progress.ts'
import { terminalLine } from '../terminal-text.ts'

interface IngestOptions extends ConnectOptions {
  chunkSize?: number
  chunkOverlap?: number
  collection?: string
}

export const command: CommandModule<IngestOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .argument('<paths...>', 'files, folders and globs')
      .option('--chunk-size <characters>', '1 to 20000 (default: 1000)', integerBetween(1, 20_000))
      .option(
        '--chunk-overlap <characters>',
        'less than the size (default: a tenth, at most 100)',
        integerBetween(0, 19_999),
      )
      .option('--collection <name>', 'where to put them'),
  async run(context, { chunkSize, chunkOverlap, collection, ...options }, ...paths) {
    const root = process.cwd()
    const sources = await findFiles(root, paths)
    const settings = { chunk_size: chunkSize, chunk_overlap: chunkOverlap, collection }
    const results: FileResult[] = []
    const progress = createProgress()
    try {
      await withClient(options, context, async (client) => {
        for await (const result of ingestFiles(client, { root, sources, settings, signal: context.signal })) {
          results.push(result)
          if (options.json) printJson(result)
          progress.update(results.length, sources.length, result.source)
        }
      })
    } finally {
      progress.end()
      if (results.length > 0) report(results)
    }
    return results.every(({ outcome }) => outcome === 'skipped') ? exit.failure : exit.ok
  },
}

async function findFiles(root: string, paths: string[]): Promise<string[]> {
  const { findSources } = await import('../../config/sources.ts')
  const sources = await findSources(root, paths).catch((error: Error) => {
    throw new UsageError(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`)
  })
  if (sources.length === 0) throw new UsageError(`There is no file to ingest in ${paths.join(', ')}.`)
  return sources
}

function report(results: readonly FileResult[]): void {
  const count = (outcome: FileResult['outcome']) => results.filter((result) => result.outcome === outcome).length
  const chunks = results.reduce((sum, result) => sum + result.chunks, 0)
  const outcomes = (['added', 'replaced', 'unchanged', 'skipped'] as const).map((name) => `${count(name)} ${name}`)
  say(`${results.length} files, ${chunks} chunks: ${outcomes.join(', ')}.`)
  for (const { source, reason } of results) {
    if (reason !== undefined) say(`  skipped ${terminalLine(source)}: ${terminalLine(reason)}`)
  }
}
