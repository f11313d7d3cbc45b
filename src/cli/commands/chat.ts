import type { CommandModule } from '../command.ts'
import { withClient } from '../connect.ts'
import { exit } from '../exit-codes.ts'
import { addConnectFlags, type ConnectOptions } from '../flags.ts'

interface ChatOptions extends ConnectOptions {
  message?: string
  session?: string
}

export const command: CommandModule<ChatOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .argument('<agentId>', 'the agent, team or workflow to talk to')
      .option('-m, --message <text>', 'ask this once and leave')
      .option('--session <id>', 'the session to go on with (default: a new one)'),
  async run(context, options, agentId = '') {
    const { message, session: sessionId, json = false } = options
    const { signal } = context
    return withClient(options, context, async (client) => {
      // An unknown agent is worth an error before the first question; other servers of the dialect have no list.
      if (options.url === undefined) await client.agents.get(agentId)
      if (message === undefined && !json && process.stdin.isTTY && process.stdout.isTTY) {
        const { chatOnTerminal } = await import('../ui/terminal.tsx')
        await chatOnTerminal(client, { agentId, sessionId, signal })
        return exit.ok
      }
      const { chatByLines } = await import('../chat-lines.ts')
      return chatByLines(client, { agentId, sessionId, message, json, signal })
    })
  },
}
