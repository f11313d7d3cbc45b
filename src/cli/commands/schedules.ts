import { Argument } from 'commander'
import type { ScheduleInfo } from '../../core/triggers/schedule.ts'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { hint } from '../terminal/called-as.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { formatTable } from '../terminal/table.ts'
import { terminalLine } from '../terminal/text.ts'
import { tableTime } from '../terminal/when.ts'

export const command: CommandModule<ConnectOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('[action]', 'the action').choices(['list', 'run', 'pause', 'resume']).default('list'))
      .argument('[schedule]', 'the name of a schedule, except with list'),
  async run(context, options, action = 'list', name) {
    if (action === 'list' && name !== undefined) throw new UsageError('schedules list takes no name.')
    if (action !== 'list' && name === undefined)
      throw new UsageError(`schedules ${action} needs a name. agentserve schedules lists the names.`)
    const { signal } = context
    const json = options.json === true
    await withClient(options, context, async ({ schedules }) => {
      if (name === undefined) return list((await schedules.list({ signal })).schedules, json)
      if (action === 'run') {
        const run = await schedules.run(name, { signal })
        if (json) return printJson(run)
        print(run.run_id)
        return say(`The run continues in the background. Follow it: ${hint(`runs tail ${run.run_id}`)}`)
      }
      const schedule = await (action === 'pause'
        ? schedules.pause(name, { signal })
        : schedules.resume(name, { signal }))
      if (json) return printJson(schedule)
      say(`The schedule '${terminalLine(name)}' ${stateOf(schedule)}.`)
    })
    return undefined
  },
}

function list(schedules: readonly ScheduleInfo[], json: boolean): void {
  if (json) {
    for (const schedule of schedules) printJson(schedule)
    return
  }
  if (schedules.length === 0) {
    say('The config has no schedules. Add them under `schedules`.')
    return
  }
  const rows = schedules.map((schedule) => [
    schedule.name,
    schedule.agent,
    schedule.cron,
    schedule.time_zone,
    schedule.next_at === null ? (schedule.enabled ? 'paused' : 'off') : tableTime(schedule.next_at),
    schedule.last_run === null ? '-' : tableTime(schedule.last_run.at),
    schedule.last_run?.run_id ?? '-',
  ])
  print(formatTable(['NAME', 'AGENT', 'CRON', 'TIME ZONE', 'NEXT', 'LAST', 'RUN'], rows))
}

function stateOf({ enabled, paused, next_at }: ScheduleInfo): string {
  if (paused) return 'is paused'
  return enabled ? `is due next at ${next_at}` : 'is off in the config'
}
