import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../../client/client.ts'
import { isAppError } from '../../core/error.ts'
import { readAttachments } from '../chat/turn/attachment.ts'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions, repeated } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { findDataFolder } from '../connect/project.ts'
import { hasTerminal } from '../terminal/has-terminal.ts'

interface ChatOptions extends ConnectOptions {
  message?: string
  file?: string[]
  attach?: string[]
  session?: string
  continue?: boolean
}

export const command: CommandModule<ChatOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .argument('<agentId>', 'the agent, team or workflow to talk to')
      .option('-m, --message <text>', 'send this message, print the answer and exit')
      .option('--file <path>', 'a text file to send, with or without a message; repeatable', repeated)
      .option('--attach <file>', 'a file or http(s) address to send with the first message; repeatable', repeated)
      .option('--session <id>', 'the session to continue (default: a new one)')
      .option('--continue', 'continue the latest session of this agent'),
  async run(context, options, agentId = '') {
    const { json = false } = options
    if (options.continue && options.session !== undefined) {
      throw new UsageError("--continue and --session can't be combined. Use one of them.")
    }
    const { signal } = context
    const files = await readAttachments(options.attach ?? [])
    const message = await readMessage(options)
    const onTerminal = message === undefined && !json && hasTerminal()
    const historyFile = onTerminal ? join(await findDataFolder(options), 'chat-history.jsonl') : undefined
    return withClient(options, context, async (client) => {
      const kind = onTerminal || options.continue ? await findKind(client, agentId) : undefined
      const sessionId = options.continue ? await findLatest(client, agentId, kind) : options.session
      if (onTerminal) {
        const { chatOnTerminal } = await import('../chat/terminal.tsx')
        return chatOnTerminal(client, { agentId, kind, sessionId, files, historyFile, signal })
      }
      const { chatByLines } = await import('../chat/lines.ts')
      return chatByLines(client, { agentId, sessionId, message, files, json, signal })
    })
  },
}

async function readMessage({ message, file = [] }: ChatOptions): Promise<string | undefined> {
  if (file.length === 0) return message
  const texts = await Promise.all(file.map(readText))
  if (message === undefined) return texts.join('\n\n')
  return [message, ...texts.map((text, place) => `${file[place]}:\n\n${text}`)].join('\n\n')
}

async function readText(path: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (error) {
    const why = error instanceof TypeError ? 'it is not UTF-8 text' : error instanceof Error ? error.message : error
    throw new UsageError(`--file ${path} can't be sent: ${why}.`)
  }
}

/** An unknown agent is an error before the first question. Other A2A servers have no list of agents. */
async function findKind(client: Client, agentId: string) {
  try {
    return (await client.agents.get(agentId)).kind
  } catch (error) {
    if (isAppError(error) && error.code === 'route_not_found') return undefined
    throw error
  }
}

async function findLatest(client: Client, agentId: string, kind = 'agent'): Promise<string | undefined> {
  const { sessions } = await client.sessions.list({ [`${kind}_id`]: agentId }, { limit: 1 })
  return sessions[0]?.session_id
}
