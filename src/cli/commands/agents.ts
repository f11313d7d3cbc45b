import type { CommandModule } from '../command.ts'
import { withClient } from '../connect.ts'
import { addConnectFlags, type ConnectOptions } from '../flags.ts'
import { print, printJson } from '../output.ts'
import { formatTable } from '../table.ts'

export const command: CommandModule<ConnectOptions> = {
  define: (command) => void addConnectFlags(command),
  async run(context, options) {
    const { agents } = await withClient(options, context, (client) => client.agents.list())
    if (options.json) for (const agent of agents) printJson(agent)
    else {
      const rows = agents.map(({ id, kind, model, knowledge, tools, description }) => [
        id,
        kind,
        model ?? '-',
        knowledge ? 'yes' : '-',
        tools.map(({ name }) => name).join(', ') || '-',
        description ?? '',
      ])
      print(formatTable(['ID', 'KIND', 'MODEL', 'KNOWLEDGE', 'TOOLS', 'DESCRIPTION'], rows))
    }
    return undefined
  },
}
