import type { CommandEntry } from './command/module.ts'
import { type CommandName, commandNames } from './terminal/command-names.ts'

/** A command's file is loaded when it is called. */
const entries: Record<CommandName, Omit<CommandEntry, 'name'>> = {
  dev: {
    summary: 'serve the agents of agent.config.ts, again after every save',
    load: () => import('./commands/dev.ts'),
  },
  start: { summary: 'serve them without watching files', load: () => import('./commands/start.ts') },
  ask: { summary: 'answer one question from files and folders', load: () => import('./commands/ask.ts') },
  chat: { summary: 'talk to an agent', load: () => import('./commands/chat.ts') },
  ingest: { summary: 'put files and folders into the knowledge base', load: () => import('./commands/ingest.ts') },
  search: { summary: 'find passages in the knowledge base', load: () => import('./commands/search.ts') },
  knowledge: {
    summary: 'show the knowledge base, list, show and delete documents, embed it again',
    load: () => import('./commands/knowledge.ts'),
  },
  sessions: {
    summary: 'browse, search, fork, export, import and delete conversations, or save one as a test',
    load: () => import('./commands/sessions.ts'),
  },
  runs: { summary: 'list, show, follow and cancel runs', load: () => import('./commands/runs.ts') },
  agents: { summary: 'list and show agents, teams and workflows', load: () => import('./commands/agents.ts') },
  test: { summary: 'play saved conversations again', load: () => import('./commands/test.ts') },
  users: { summary: 'export or erase everything of one user', load: () => import('./commands/users.ts') },
  backup: {
    summary: 'write everything that is kept to one file, also while a server runs',
    load: () => import('./commands/backup.ts'),
  },
  restore: { summary: 'make a data folder of a backup', load: () => import('./commands/restore.ts') },
  init: { summary: 'start a new project', load: () => import('./commands/init.ts') },
  doctor: { summary: 'say what is wrong here, and what to do about it', load: () => import('./commands/doctor.ts') },
  completion: { summary: 'make the Tab key complete commands', load: () => import('./commands/completion.ts') },
}

/** In the order of the help. */
export const commands: readonly CommandEntry[] = commandNames.map((name) => ({ name, ...entries[name] }))
