import { Option } from 'commander'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions, repeated } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { type HostName, hostNames } from '../mcp/hosts.ts'
import { printConfig } from '../mcp/print-config.ts'

interface McpOptions extends ConnectOptions {
  agent?: string[]
  folder?: string
  printConfig: HostName
  http?: boolean
}

export const command: CommandModule<McpOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .option('--folder <folder>', "the project's folder (default: this one)")
      .option('--agent <id>', 'offer only this agent, team or workflow; repeatable', repeated)
      .addOption(
        new Option('--print-config <host>', 'print what to paste into the configuration of an MCP host')
          .choices(hostNames)
          .makeOptionMandatory(),
      )
      .option('--http', 'with --print-config: the form that calls the URL of a server'),
  async run(_context, options) {
    if (options.folder !== undefined) enter(options.folder)
    await printConfig(options.printConfig, options)
    return undefined
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
