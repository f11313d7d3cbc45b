import { Argument, Option } from 'commander'
import { runStatuses } from '../../core/run.ts'
import { addConnectFlags, integerBetween } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { checkCall, type RunsAction, type RunsOptions } from './runs/action.ts'

/** An action's file is loaded when it is called. */
const actions: Record<string, () => Promise<RunsAction>> = {
  list: async () => (await import('./runs/list.ts')).listRuns,
  show: async () => (await import('./runs/show.ts')).showRun,
  tail: async () => (await import('./runs/tail.ts')).tailRun,
  cancel: async () => (await import('./runs/cancel.ts')).cancelRun,
}

export const command: CommandModule<RunsOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('[action]', 'what to do').choices(Object.keys(actions)).default('list'))
      .argument('[run...]', 'the id of a run, for all but list')
      .option('--session <id>', 'for list: of this session')
      .option('--agent <id>', 'for list: of this agent')
      .option('--team <id>', 'for list: of this team')
      .option('--workflow <id>', 'for list: of this workflow')
      .addOption(new Option('--status <status>', 'for list: in this state').choices(runStatuses))
      .option('--limit <number>', 'for list: how many, 1 to 10000 (default: 20)', integerBetween(1, 10_000))
      .option('--cursor <cursor>', 'for list: go on behind what an earlier call has shown')
      .option('--events', 'for show: everything that was recorded, a line each')
      .option('--why', 'for show: what each model call was told and gave')
      .option('--reason <text>', 'for cancel: why, for the record'),
  async run(context, options, name = 'list', ...args) {
    checkCall(name, args, options)
    const { signal } = context
    const json = options.json === true
    return withClient(options, context, async (client) => {
      const action = await actions[name]?.()
      return action?.({ client, runId: args[0] ?? '', options, json, signal })
    })
  },
}
