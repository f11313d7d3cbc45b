import { Argument } from 'commander'
import type { CommandModule } from '../command.ts'
import { withClient } from '../connect.ts'
import { addConnectFlags, integerBetween } from '../flags.ts'
import type { SessionsAction, SessionsOptions } from '../sessions/action.ts'
import { opensBrowser } from '../sessions/browse.ts'

/** An action's file is loaded when it is called. */
const actions: Record<string, () => Promise<SessionsAction>> = {
  browse: async () => (await import('../sessions/browse.ts')).browseSessions,
  list: async () => (await import('../sessions/list.ts')).listSessions,
  show: async () => (await import('../sessions/show.ts')).showSession,
  tail: async () => (await import('../sessions/tail.ts')).tailSession,
  delete: async () => (await import('../sessions/delete.ts')).deleteSession,
  search: async () => (await import('../sessions/search.ts')).searchSessions,
  'save-test': async () => (await import('../sessions/save-test.ts')).saveSessionTest,
}

export const command: CommandModule<SessionsOptions> = {
  define: (command) =>
    void addConnectFlags(command)
      .addArgument(
        new Argument('[action]', 'what to do (default: browse in a terminal, else list)').choices(Object.keys(actions)),
      )
      .argument('[sessions...]', 'the id of a session, or for search the words')
      .option('--limit <number>', 'how many (default: 20)', integerBetween(1, 100_000))
      .option('--all', 'for list and search: everything there is')
      .option('--agent <id>', 'for list and search: only sessions of this agent')
      .option('--team <id>', 'only those of this team')
      .option('--workflow <id>', 'only those of this workflow')
      .option('--user <id>', 'only those of this user')
      .option('--events', 'for show: everything that was recorded, a line each')
      .option('--why <run>', 'for show: what each model call of this run was told and gave')
      .option('--to <file>', 'for save-test: where (default: test/<session>.session.json)')
      .option('--live-tools', 'for save-test: tools run again, instead of answering what they answered'),
  async run(context, options, name = opensBrowser(options) ? 'browse' : 'list', ...args) {
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
