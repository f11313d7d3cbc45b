import { dirname } from 'node:path'
import type { Client } from '../../client/client.ts'
import { readAttachments } from '../chat/turn/attachment.ts'
import { addConnectFlags, type ConnectOptions, repeated } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { findDataFolder } from '../connect/project.ts'
import { ownKnowledge } from '../ingest/files.ts'
import { ingestPaths } from '../ingest/paths.ts'
import { createIngestReport } from '../ingest/report.ts'
import { sayIfEmpty } from '../knowledge/empty.ts'

interface AskOptions extends ConnectOptions {
  agent?: string
  attach?: string[]
}

export const command: CommandModule<AskOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .argument('<question>', 'the question')
      .argument('[paths...]', 'files, folders and globs to ingest first, unless they are unchanged')
      .option('--agent <id>', 'the agent that answers (default: docs, or else the first agent with knowledge)')
      .option('--attach <file>', 'a file or http(s) address to send with the question; repeatable', repeated),
  async run(context, { agent, attach = [], ...options }, message = '', ...paths) {
    const { signal } = context
    const files = await readAttachments(attach)
    const { chatByLines } = await import('../chat/lines.ts')
    return withClient(
      options,
      context,
      async (client, _url, connection) => {
        if (paths.length > 0) {
          const report = createIngestReport({ json: false, quiet: true })
          try {
            const root = process.cwd()
            const prune = await isOwnFolder(options, root)
            const wanted = { root, paths, settings: {}, prune, quiet: true, signal, own: ownKnowledge(connection.own) }
            await ingestPaths(client, wanted, report)
          } finally {
            report.end()
          }
        } else {
          await connection.readSources(signal)
          await sayIfEmpty(client, signal)
        }
        const agentId = agent ?? (await findAnswerer(client, signal))
        return chatByLines(client, {
          agentId,
          sessionId: undefined,
          message,
          files,
          json: options.json === true,
          signal,
        })
      },
      { stays: true },
    )
  },
}

/** Whether the documents come from this folder: another knowledge base may use the same names. */
async function isOwnFolder(options: ConnectOptions, folder: string): Promise<boolean> {
  if (options.url !== undefined || process.env.AGENTSERVE_URL) return false
  return dirname(await findDataFolder(options)) === folder
}

async function findAnswerer(client: Client, signal: AbortSignal): Promise<string> {
  const { agents } = await client.agents.list(undefined, { signal })
  const answerer = agents.find(({ id }) => id === 'docs') ?? agents.find(({ knowledge }) => knowledge)
  return answerer?.id ?? 'docs'
}
