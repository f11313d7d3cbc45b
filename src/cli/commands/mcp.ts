import { Option } from 'commander'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions, repeated } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { type HostName, hostNames } from '../mcp/hosts.ts'

interface McpOptions extends ConnectOptions {
  agent?: string[]
  folder?: string
  printConfig?: HostName
  http?: boolean
}

export const command: CommandModule<McpOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .option('--folder <folder>', "the project's folder (default: this one)")
      .option('--agent <id>', 'offer only this agent, team or workflow; repeatable', repeated)
      .addOption(
        new Option('--print-config <host>', 'print what to paste into the configuration of an MCP host').choices(
          hostNames,
        ),
      )
      .option('--http', 'with --print-config: the form that calls the URL of a server'),
  async run(context, { folder, printConfig: host, http = false, ...options }) {
    if (folder !== undefined) enter(folder)
    if (host !== undefined) {
      const { printConfig } = await import('../mcp/print-config.ts')
      await printConfig(host, { ...options, http })
      return undefined
    }
    if (http) throw new UsageError('--http needs --print-config <host>. A server offers MCP over HTTP by itself.')
    const { serveMcp } = await import('../mcp/serve.ts')
    return serveMcp(context, options)
  },
}

function enter(folder: string): void {
  try {
    process.chdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`--folder ${folder}: there is no such folder, or it can't be entered (${code}).`)
  }
}
