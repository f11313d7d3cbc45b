import { Argument } from 'commander'
import type { EntityInfo } from '../../core/runnable.ts'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { formatFields } from '../terminal/fields.ts'
import { print, printJson } from '../terminal/output.ts'
import { formatTable } from '../terminal/table.ts'

export const command: CommandModule<ConnectOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(new Argument('[action]', 'the action').choices(['list', 'show']).default('list'))
      .argument('[agent]', 'with show: the id of an agent, team or workflow'),
  async run(context, options, action = 'list', id) {
    if (action === 'show' && id === undefined)
      throw new UsageError('agents show needs an id. agentserve agents lists the ids.')
    if (action === 'list' && id !== undefined) throw new UsageError('agents list takes no id. Use agents show.')
    const { signal } = context
    await withClient(options, context, async ({ agents }) => {
      if (id !== undefined) show(await agents.get(id, { signal }), options.json === true)
      else list((await agents.list(undefined, { signal })).agents, options.json === true)
    })
    return undefined
  },
}

function list(agents: readonly EntityInfo[], json: boolean): void {
  if (json) {
    for (const agent of agents) printJson(agent)
    return
  }
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

function show(agent: EntityInfo, json: boolean): void {
  if (json) {
    printJson(agent)
    return
  }
  const { id, kind, name, description, model, knowledge, streaming, tools } = agent
  print(
    formatFields([
      ['id', id],
      ['kind', kind],
      ['name', name],
      ['description', description],
      ['model', model],
      ['knowledge', knowledge ? 'yes' : 'no'],
      ['streaming', streaming ? 'yes' : 'no'],
    ]),
  )
  if (tools.length > 0)
    print(
      `\n${formatTable(
        ['TOOL', 'DESCRIPTION'],
        tools.map((tool) => [tool.name, tool.description ?? '']),
      )}`,
    )
}
