import { Option } from 'commander'
import { type ChunkerType, chunkerTypes } from '../../core/knowledge/knowledge.ts'
import { knowledgeLimits } from '../../core/knowledge/limits.ts'
import { aborted } from '../../runtime/abort.ts'
import { createSerial } from '../../runtime/serial.ts'
import { describeError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { addConnectFlags, type ConnectOptions, encodingName, integerBetween, repeated } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { findDataFolder } from '../connect/project.ts'
import { ownKnowledge } from '../ingest/files.ts'
import { parseMetadata } from '../ingest/metadata.ts'
import { ingestPaths, isAddress } from '../ingest/paths.ts'
import { createIngestReport } from '../ingest/report.ts'
import { addSiteFlags, type SiteFlags, siteOptions } from '../ingest/site-flags.ts'
import { watchPaths } from '../ingest/watch.ts'
import { say } from '../terminal/output.ts'

interface IngestOptions extends ConnectOptions, SiteFlags {
  chunker?: ChunkerType
  chunkSize?: number
  chunkOverlap?: number
  collection?: string
  metadata?: string[]
  name?: string
  encoding?: string
  dryRun?: boolean
  prune?: boolean
  watch?: boolean
  allowHttp?: boolean
  allowPrivate?: boolean
}

export const command: CommandModule<IngestOptions> = {
  define: (command) =>
    void addSiteFlags(addConnectFlags(command))
      .argument('<paths...>', 'files, folders, globs, https:// addresses, or - for stdin')
      .option('--watch', 'watch for changes: re-ingest changed files, delete removed ones')
      .option('--dry-run', 'show what would be done, without doing it')
      .option('--prune', 'delete documents whose files were removed from these folders')
      .option('--metadata <key=value>', 'metadata to filter by, or a JSON object; repeatable', repeated)
      .addOption(
        new Option('--chunker <name>', 'how to split documents (default: depends on the format)').choices(chunkerTypes),
      )
      .option(
        '--chunk-size <characters>',
        'characters per chunk, 1 to 20000 (default: 1000)',
        integerBetween(1, knowledgeLimits.chunkSize),
      )
      .option(
        '--chunk-overlap <characters>',
        'characters that neighbouring chunks share, less than the size (default: a tenth, at most 100)',
        integerBetween(0, knowledgeLimits.chunkOverlap),
      )
      .option('--collection <name>', 'the collection to add them to')
      .option('--name <name>', 'a file name for stdin; its extension selects the reader', 'stdin.md')
      .option(
        '--encoding <name>',
        'what text is in that is not UTF-8, such as windows-1251 (default: found by the text)',
        encodingName,
      )
      .option('--allow-http', 'also fetch http:// addresses')
      .option('--allow-private', 'also fetch from private and local addresses'),
  async run(context, options, ...paths) {
    const settings = {
      chunker_type: options.chunker,
      chunk_size: options.chunkSize,
      chunk_overlap: options.chunkOverlap,
      collection: options.collection,
      metadata: parseMetadata(options.metadata),
    }
    const { signal } = context
    const { dryRun, prune, name, encoding, allowHttp, allowPrivate } = options
    const root = process.cwd()
    const site = await siteOptions(options, paths, () => findDataFolder(options))
    const wanted = { root, paths, settings, dryRun, prune, name, encoding, allowHttp, allowPrivate, site, signal }
    let before: ReadonlySet<string> | undefined
    const queue = createSerial()
    const pass = () => queue.run(ingestOnce)
    const ingestOnce = async () => {
      const report = createIngestReport({ json: options.json === true, dryRun: dryRun === true })
      try {
        before = await withClient(
          options,
          context,
          (client, _url, { own }) => ingestPaths(client, { ...wanted, before, own: ownKnowledge(own) }, report),
          { stays: true },
        )
      } finally {
        report.end()
      }
      return report.failed()
    }
    const exitCode = async () => ((await pass()) ? exit.failure : exit.ok)
    if (options.watch !== true) return exitCode()
    const onError = (error: unknown) => {
      if (!signal.aborted) say(describeError(error))
    }
    const places = paths.filter((path) => path !== '-' && !isAddress(path))
    // Before the first pass, so that no change is missed.
    const watcher = await watchPaths({ root: wanted.root, paths: places, onChange: pass, onError })
    try {
      const code = await exitCode()
      say(`Watching ${places.join(', ')} …`)
      await aborted(signal)
      return code
    } finally {
      await watcher.close()
    }
  },
}
