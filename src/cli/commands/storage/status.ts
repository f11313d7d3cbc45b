import { shownBytes } from '../../../core/limits.ts'
import type { DatabaseStatus } from '../../../server/storage.ts'
import { exit } from '../../command/exit-codes.ts'
import { hint } from '../../terminal/called-as.ts'
import { print, printJson, say } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { terminalLine } from '../../terminal/text.ts'

/** Prints the state of the database, and what to do. Gives `failure` when a server of this version could not use it as it is. */
export function showStatus(status: DatabaseStatus, place: string, json: boolean): number {
  const { schema } = status
  if (json) printJson({ place, ...status })
  else showTables(status, place)
  if (schema.strange !== null) {
    say(`Step ${schema.strange} is of a newer agentserve, and this one can't work with it. Install a newer agentserve.`)
    return exit.failure
  }
  if (schema.missing > 0) {
    const what = schema.applied === null ? 'There are no tables yet' : 'Tables are missing'
    say(`${what}. ${hint('storage prepare')} makes them.`)
    return exit.failure
  }
  if (schema.waiting.length > 0 && !json) say(describeWaiting(status))
  return exit.ok
}

function describeWaiting({ schema, instances }: DatabaseStatus): string {
  const next = Math.min(...schema.waiting)
  const older = instances.filter(({ state, schema_known: knows }) => state === 'alive' && knows < next).length
  const steps = `Step ${schema.waiting.join(', ')} is still to be applied`
  if (older === 0) return `${steps}, and no older server runs. ${hint('storage upgrade')} applies it.`
  const servers = older === 1 ? '1 older server runs' : `${older} older servers run`
  return `${steps}: ${servers} (column KNOWS). Then ${hint('storage upgrade')} applies it.`
}

function showTables({ version, role, schema, instances, tables }: DatabaseStatus, place: string): void {
  print(
    terminalLine(`Postgres ${version} at ${place}, step ${schema.applied ?? 0} of ${schema.known}, as role ${role}`),
  )
  const shown = instances.map(({ key, state, beat_age_seconds: age, running, queued, role, ...instance }) => [
    String(key),
    state,
    `${age.toFixed(1)} s`,
    String(running),
    String(queued),
    role,
    instance.version,
    String(instance.schema_known),
    instance.address ?? '-',
    instance.owner,
  ])
  const head = ['INSTANCE', 'STATE', 'LAST BEAT', 'RUNNING', 'QUEUED', 'ROLE', 'VERSION', 'KNOWS', 'ADDRESS', 'OWNER']
  if (shown.length > 0) print(`\n${formatTable(head, shown)}`)
  if (tables.length === 0) return
  const sizes = tables.map(({ name, rows, bytes }) => [name, rows === null ? '-' : String(rows), shownBytes(bytes)])
  print(`\n${formatTable(['TABLE', 'ROWS (ABOUT)', 'SIZE'], sizes)}`)
}
