import { Argument, Option } from 'commander'
import { runStatuses } from '../../core/run.ts'
import { UsageError } from '../command/exit.ts'
import { addConnectFlags, integerBetween } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import type { SessionsAction, SessionsOptions } from './sessions/action.ts'
import { opensBrowser } from './sessions/browse.ts'

const actions: Record<string, () => Promise<SessionsAction>> = {
  browse: async () => (await import('./sessions/browse.ts')).browseSessions,
  list: async () => (await import('./sessions/list.ts')).listSessions,
  show: async () => (await import('./sessions/show.ts')).showSession,
  files: async () => (await import('./sessions/files.ts')).listFiles,
  file: async () => (await import('./sessions/files.ts')).saveFile,
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
        new Argument('[action]', 'the action (default: browse in a terminal, otherwise list)').choices(
          Object.keys(actions),
        ),
      )
      .argument(
        '[sessions...]',
        'session ids; with search the words, with import the file or - for stdin; with file the id of the file after the session',
      )
      .option(
        '--limit <number>',
        'the number of results (default: 50 runs with show, otherwise 20)',
        integerBetween(1, 100_000),
      )
      .option('--all', 'with list, search and show: all results; with export: all sessions')
      .option('--agent <id>', 'only sessions of this agent; with reuse: the new agent')
      .option('--team <id>', 'the same for a team')
      .option('--workflow <id>', 'the same for a workflow')
      .option('--user <id>', 'the same for a user')
      .addOption(
        new Option('--status <status>', 'with list: only sessions whose last run has this status').choices(runStatuses),
      )
      .option('--older-than <time>', 'with list and prune: only sessions unchanged for this long, such as 12h or 30d')
      .option('--dry-run', 'with prune: show what would be deleted, without deleting it')
      .option('--yes', "with prune: don't ask for confirmation")
      .option('--events', 'with show: print every recorded event, one per line')
      .option('--why <run>', 'with show: print the prompt and the answer of each model call of this run')
      .option('--replaced', 'with show: also the runs that other runs have replaced')
      .option('--new', 'with summary: write a new one')
      .option('--at <run>', 'with fork: the last run to copy (default: the latest)')
      .option('--before <run>', 'with fork: copy the conversation before this run')
      .option('--as <id>', 'with fork: the id of the new session')
      .addOption(
        new Option('--format <format>', 'with export: jsonl can be imported again, markdown is for reading').choices([
          'jsonl',
          'markdown',
        ]),
      )
      .option(
        '--output <file>',
        'with export and file: the output file; an existing file is not overwritten (default: stdout; with file the name of the file)',
      )
      .option('--overwrite', 'with file: overwrite an existing file')
      .option('--no-events', 'with export: leave out the recorded events of the runs')
      .option('--new-ids', 'with import: give the sessions new ids')
      .option('--to <file>', 'with save-test: the output file (default: test/<session>.session.json)')
      .option('--live-tools', 'with save-test: run the tools again instead of replaying their recorded results'),
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

/** Flags that most actions reject: an ignored flag could make a deletion larger than intended. */
const flagActions: Record<string, readonly string[]> = {
  olderThan: ['list', 'prune'],
  status: ['list'],
  dryRun: ['prune'],
  yes: ['prune'],
  replaced: ['show'],
  new: ['summary'],
  at: ['fork'],
  before: ['fork'],
  as: ['fork'],
  format: ['export'],
  output: ['export', 'file'],
  overwrite: ['file'],
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
    throw new UsageError(`--${name} can be used with ${belongs.join(', ')}, but not with sessions ${action}.`)
  }
}
