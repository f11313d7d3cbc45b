import { Argument, Option } from 'commander'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, integerBetween } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import type { SessionsAction, SessionsOptions } from './sessions/action.ts'
import { opensBrowser } from './sessions/browse.ts'

/** An action's file is loaded when it is called. */
const actions: Record<string, () => Promise<SessionsAction>> = {
  browse: async () => (await import('./sessions/browse.ts')).browseSessions,
  list: async () => (await import('./sessions/list.ts')).listSessions,
  show: async () => (await import('./sessions/show.ts')).showSession,
  tail: async () => (await import('./sessions/tail.ts')).tailSession,
  search: async () => (await import('./sessions/search.ts')).searchSessions,
  summary: async () => (await import('./sessions/summary.ts')).summariseSession,
  fork: async () => (await import('./sessions/fork.ts')).forkSession,
  reuse: async () => (await import('./sessions/reuse.ts')).reuseSession,
  export: async () => (await import('./sessions/export.ts')).exportSessions,
  import: async () => (await import('./sessions/import.ts')).importSessions,
  delete: async () => (await import('./sessions/delete.ts')).deleteSession,
  prune: async () => (await import('./sessions/prune.ts')).pruneSessions,
  'save-test': async () => (await import('./sessions/save-test.ts')).saveSessionTest,
}

export const command: CommandModule<SessionsOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(
        new Argument('[action]', 'what to do (default: browse in a terminal, else list)').choices(Object.keys(actions)),
      )
      .argument('[sessions...]', 'ids of sessions; for search the words, for import the file or -')
      .option('--limit <number>', 'how many: runs for show (default: 50), else 20', integerBetween(1, 100_000))
      .option('--all', 'for list, search and show: everything there is; for export: every session')
      .option('--agent <id>', 'only sessions of this agent; for reuse: who gets it')
      .option('--team <id>', 'likewise a team')
      .option('--workflow <id>', 'likewise a workflow')
      .option('--user <id>', 'likewise a user')
      .option('--older-than <time>', 'for list and prune: not changed for so long, as 12h or 30d')
      .option('--dry-run', 'for prune: only say what would go')
      .option('--yes', 'for prune: do not ask')
      .option('--events', 'for show: everything that was recorded, a line each')
      .option('--why <run>', 'for show: what each model call of this run was told and gave')
      .option('--new', 'for summary: make a new one')
      .option('--at <run>', 'for fork: the last run to take over (default: the latest)')
      .option('--as <id>', 'for fork: the id of the new session')
      .addOption(
        new Option('--format <format>', 'for export: for import again, or to be read').choices(['jsonl', 'markdown']),
      )
      .option('--output <file>', 'for export: where; never over a file that is there (default: stdout)')
      .option('--no-events', 'for export: without the recorded events of the runs')
      .option('--new-ids', 'for import: other ids for everything')
      .option('--to <file>', 'for save-test: where (default: test/<session>.session.json)')
      .option('--live-tools', 'for save-test: tools run again, instead of answering what they answered'),
  async run(context, options, name = opensBrowser(options) ? 'browse' : 'list', ...args) {
    refuseMisplaced(name, options)
    const action = await actions[name]?.()
    return action?.({
      withClient: (work) => withClient(options, context, work),
      args,
      options,
      json: options.json === true,
      signal: context.signal,
    })
  },
}

/** Flags that mean nothing to most actions: one that deletes must not be taken for less than was said. */
const flagActions: Record<string, readonly string[]> = {
  olderThan: ['list', 'prune'],
  dryRun: ['prune'],
  yes: ['prune'],
  new: ['summary'],
  at: ['fork'],
  as: ['fork'],
  format: ['export'],
  output: ['export'],
  newIds: ['import'],
  to: ['save-test'],
  liveTools: ['save-test'],
  ...Object.fromEntries(
    ['agent', 'team', 'workflow', 'user'].map((flag) => [flag, ['list', 'search', 'reuse', 'export', 'prune']]),
  ),
}

function refuseMisplaced(action: string, options: SessionsOptions): void {
  for (const flag of Object.keys(options)) {
    const belongs = flagActions[flag]
    if (belongs === undefined || belongs.includes(action)) continue
    const name = flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    throw new UsageError(`--${name} goes with ${belongs.join(', ')}, not with sessions ${action}.`)
  }
}
