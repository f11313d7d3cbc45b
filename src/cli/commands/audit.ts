import { Option } from 'commander'
import { type AuditAction, type AuditEntry, auditActions } from '../../core/access/audit.ts'
import { parseDuration } from '../../core/duration.ts'
import { isMoment } from '../../core/time.ts'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, type ConnectOptions, integerBetween } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { print, printJson, say } from '../terminal/output.ts'
import { formatTable, tableColumns } from '../terminal/table.ts'
import { terminalLine } from '../terminal/text.ts'
import { tableTime } from '../terminal/when.ts'

interface AuditOptions extends ConnectOptions {
  action?: AuditAction
  caller?: string
  user?: string
  object?: string
  outcome?: string
  since?: string
  until?: string
  limit?: number
  cursor?: string
}

const usualLimit = 20
const pageLimit = 100
const head = ['WHEN', 'WHO', 'USER', 'ACTION', 'OBJECT', 'OUTCOME']
/** What nobody should have to guess. */
const who = ['WHO', 'USER', 'ACTION']

export const command: CommandModule<AuditOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addOption(new Option('--action <action>', 'only this action').choices(auditActions))
      .option('--caller <id>', 'only what this caller did: the id of a key, or jwt: and the user of a token')
      .option('--user <user>', 'only what this user did')
      .option('--object <id>', 'only what was done to this object')
      .option('--outcome <outcome>', 'only entries with this outcome: ok, or the code of an error')
      .option('--since <time>', 'only what was done since: a time ago such as 7d, or a moment in UTC')
      .option('--until <time>', 'only what was done before that')
      .option('--limit <number>', 'the number of entries (default: 20)', integerBetween(1, 100_000))
      .option('--cursor <cursor>', 'begin after the page that ended with it'),
  async run(context, { limit = usualLimit, cursor: from, ...options }) {
    const { signal } = context
    const { action, caller, outcome } = options
    const since = momentOf('--since', options.since)
    const until = momentOf('--until', options.until)
    const filter = { action, caller, outcome, user_id: options.user, object_id: options.object, since, until }
    await withClient(options, context, async ({ audit }) => {
      const entries: AuditEntry[] = []
      let cursor: string | undefined | null = from
      do {
        const page = await audit.list(filter, { limit: Math.min(pageLimit, limit - entries.length), cursor, signal })
        entries.push(...page.entries)
        if (options.json) for (const entry of page.entries) printJson(entry)
        cursor = page.next_cursor
      } while (cursor !== null && entries.length < limit)
      if (!options.json && entries.length === 0) say('No entries found.')
      else if (!options.json) print(formatTable(head, entries.map(toRow), tableColumns(), who))
      if (cursor !== null) say(`There are more entries. To see them, add --cursor ${terminalLine(cursor)}`)
    })
    return undefined
  },
}

function toRow({ at, caller, user_id, action, object_id, outcome }: AuditEntry): string[] {
  return [tableTime(at), caller, user_id ?? '', action, object_id ?? '', outcome ?? 'unknown']
}

function momentOf(flag: string, given: string | undefined): string | undefined {
  if (given === undefined || isMoment(given)) return given
  const ms = parseDuration(given)
  const time = ms === undefined ? Number.NaN : Date.now() - ms
  if (time >= 0) return new Date(time).toISOString()
  throw new UsageError(
    `${flag} takes a time ago such as 7d, or a moment such as 2026-01-05T09:30:00.000Z, not '${given}'.`,
  )
}
