import { Argument, Option } from 'commander'
import { againAfters, againKeeps, runStatuses, runTextForms } from '../../core/run.ts'
import { addConnectFlags, integerBetween } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { checkCall, type RunsAction, type RunsOptions } from './runs/action.ts'

const actions: Record<string, () => Promise<RunsAction>> = {
  list: async () => (await import('./runs/list.ts')).listRuns,
  show: async () => (await import('./runs/show.ts')).showRun,
  tail: async () => (await import('./runs/tail.ts')).tailRun,
  resume: async () => (await import('./runs/resume.ts')).resumeRun,
  again: async () => (await import('./runs/again.ts')).againRun,
  cancel: async () => (await import('./runs/cancel.ts')).cancelRun,
}

export const command: CommandModule<RunsOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('[action]', 'the action').choices(Object.keys(actions)).default('list'))
      .argument('[run...]', 'the id of a run, except with list')
      .option('--session <id>', 'with list: only runs of this session')
      .option('--agent <id>', 'with list: only runs of this agent')
      .option('--team <id>', 'with list: only runs of this team')
      .option('--workflow <id>', 'with list: only runs of this workflow')
      .addOption(new Option('--status <status>', 'with list: only runs with this status').choices(runStatuses))
      .option('--limit <number>', 'with list: the number of runs, 1 to 10000 (default: 20)', integerBetween(1, 10_000))
      .option('--cursor <cursor>', 'with list: continue after the runs of an earlier call')
      .option('--events', 'with show: print every recorded event, one per line')
      .option('--why', 'with show: print the prompt and the answer of each model call')
      .addOption(
        new Option(
          '--as <form>',
          'with show: print it as Markdown for a model, or as what asks the same once more',
        ).choices(runTextForms),
      )
      .option('--approve', 'with resume: approve everything that waits')
      .option('--deny [reason]', 'with resume: deny everything that waits')
      .option(
        '--input <input>',
        'with resume: the input, or the output of the tool, that the run waits for, as JSON; with again: another message',
      )
      .option(
        '--call <answer>',
        'with resume: <call_id>=approve, =deny[:reason], =<json> or =error:<text>; repeatable',
        collect,
      )
      .option(
        '--from <number>',
        'with again: the number of the event that it runs from',
        integerBetween(1, 999_999_999),
      )
      .option('--instructions <text>', "with again: instructions instead of the agent's own")
      .option('--model <model>', 'with again: another model, as provider/model')
      .addOption(
        new Option(
          '--after <how>',
          'with again: what answers tool calls and steps from there on (default: ask)',
        ).choices(againAfters),
      )
      .option('--times <number>', 'with again: the number of runs, 1 to 5 (default: 1)', integerBetween(1, 5))
      .addOption(new Option('--keep <what>', 'with again: what becomes of the run (default: no)').choices(againKeeps))
      .option('--reason <text>', 'with cancel: a reason to record'),
  async run(context, options, name = 'list', ...args) {
    checkCall(name, args, options)
    const { signal } = context
    const json = options.json === true
    return withClient(options, context, async (client, url) => {
      const action = await actions[name]?.()
      return action?.({ client, url, runId: args[0] ?? '', options, json, signal })
    })
  },
}

function collect(answer: string, earlier: string[] = []): string[] {
  return [...earlier, answer]
}
