import { Argument } from 'commander'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { eraseUser, exportUser } from './users/data.ts'
import { forgetFacts, listFacts, type UserCall } from './users/facts.ts'

interface UsersOptions extends ConnectOptions {
  yes?: boolean
  output?: string
}

export const command: CommandModule<UsersOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('<action>', 'the action').choices(['facts', 'forget', 'export', 'erase']))
      .argument('<user>', 'the user_id of the sessions and runs')
      .argument('[fact]', 'with forget: the id of a fact (default: all facts)')
      .option(
        '--output <file>',
        'with export: the output file; an existing file is never overwritten (default: stdout)',
      )
      .option('--yes', "with forget and erase: don't ask for confirmation"),
  async run(context, { yes, output, ...options }, action = '', userId = '', factId) {
    if (userId === '') throw new UsageError('Name the user: the user_id of the sessions and runs.')
    if (output !== undefined && action !== 'export') throw new UsageError('--output can only be used with export.')
    if (yes && action !== 'erase' && action !== 'forget') {
      throw new UsageError('--yes can only be used with forget and erase.')
    }
    if (factId !== undefined && action !== 'forget') throw new UsageError('A fact can only be named with forget.')
    const { signal } = context
    const call: UserCall = {
      withClient: (use) => withClient(options, context, use),
      ...{ userId, json: options.json, signal },
    }
    if (action === 'facts') return listFacts(call)
    if (action === 'forget') return forgetFacts(call, factId, yes)
    return action === 'export' ? exportUser(call, output) : eraseUser(call, yes)
  },
}
