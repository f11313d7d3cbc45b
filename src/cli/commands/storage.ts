import { Argument } from 'commander'
import type { DatabaseStatus } from '../../server/storage.ts'
import { UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { addProjectFlags, type ProjectOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withProject } from '../connect/project.ts'
import { hint } from '../terminal/called-as.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { formatTable } from '../terminal/table.ts'
import { terminalLine } from '../terminal/text.ts'

interface StorageOptions extends ProjectOptions {
  print?: boolean
}

export const command: CommandModule<StorageOptions> = {
  define: (command) =>
    void addProjectFlags(command)
      .addArgument(new Argument('[action]', 'the action').choices(['status', 'prepare']).default('status'))
      .option('--print', 'with prepare: print the statements instead of executing them'),
  async run({ signal }, options, action = 'status') {
    if (options.print && action !== 'prepare') throw new UsageError('--print can only be used with prepare.')
    const storage = await import('../../server/storage.ts')
    return withProject(options, signal, async (config) => {
      const place = storage.placeOfDatabase(config)
      if (options.print) {
        print(await storage.preparationScript(config))
        return exit.ok
      }
      if (action === 'status') return showStatus(await storage.readDatabaseStatus(config), place, options.json === true)
      const { step, applied } = await storage.prepareDatabase(config)
      if (options.json) printJson({ place, step, applied })
      else say(`The tables at ${terminalLine(place)} are ${applied === 0 ? 'up to date' : 'ready'} (step ${step}).`)
      return exit.ok
    })
  },
}

function showStatus(status: DatabaseStatus, place: string, json: boolean): number {
  const { schema } = status
  if (json) printJson({ place, ...status })
  else showTables(status, place)
  if (schema.missing === 0) return exit.ok
  say(
    `${schema.applied === null ? 'There are no tables yet' : 'Tables are missing'}. ${hint('storage prepare')} makes them.`,
  )
  return exit.failure
}

function showTables({ version, role, schema, instances, tables }: DatabaseStatus, place: string): void {
  print(
    terminalLine(`Postgres ${version} at ${place}, step ${schema.applied ?? 0} of ${schema.known}, as role ${role}`),
  )
  const shown = instances.map(({ key, state, beat_age_seconds, role, version, address, running, queued, owner }) => [
    String(key),
    state,
    `${beat_age_seconds.toFixed(1)} s`,
    String(running),
    String(queued),
    role,
    version,
    address ?? '-',
    owner,
  ])
  const head = ['INSTANCE', 'STATE', 'LAST BEAT', 'RUNNING', 'QUEUED', 'ROLE', 'VERSION', 'ADDRESS', 'OWNER']
  if (shown.length > 0) print(`\n${formatTable(head, shown)}`)
  if (tables.length === 0) return
  const sizes = tables.map(({ name, rows, bytes }) => [name, rows === null ? '-' : String(rows), megabytes(bytes)])
  print(`\n${formatTable(['TABLE', 'ROWS (ABOUT)', 'MB'], sizes)}`)
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1)
}
