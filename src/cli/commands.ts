import type { CommandEntry } from './command/module.ts'
import { type CommandName, commandNames } from './terminal/command-names.ts'

/** A command's file is loaded when it is called. */
const entries: Record<CommandName, Omit<CommandEntry, 'name'>> = {
  dev: {
    summary: 'serve the agents of agent.config.ts and reload after every save',
    load: () => import('./commands/dev.ts'),
  },
  start: { summary: 'serve the agents without watching files', load: () => import('./commands/start.ts') },
  ask: { summary: 'answer one question from your files', load: () => import('./commands/ask.ts') },
  chat: { summary: 'talk to an agent', load: () => import('./commands/chat.ts') },
  mcp: { summary: 'offer agents and documents to MCP hosts', load: () => import('./commands/mcp.ts') },
  ingest: { summary: 'add files and folders to the knowledge base', load: () => import('./commands/ingest.ts') },
  search: { summary: 'find passages in the knowledge base', load: () => import('./commands/search.ts') },
  knowledge: {
    summary: 'inspect the knowledge base, manage its documents, and reindex it',
    load: () => import('./commands/knowledge.ts'),
  },
  sessions: {
    summary: 'browse, search, fork, export, import and delete conversations, or save one as a test',
    load: () => import('./commands/sessions.ts'),
  },
  runs: { summary: 'list, show, follow and cancel runs', load: () => import('./commands/runs.ts') },
  agents: { summary: 'list and show agents, teams and workflows', load: () => import('./commands/agents.ts') },
  schedules: { summary: 'list, run, pause and resume schedules', load: () => import('./commands/schedules.ts') },
  test: { summary: 'replay saved conversations as tests', load: () => import('./commands/test.ts') },
  users: {
    summary: 'show what is remembered about a user, and export or erase all data of one',
    load: () => import('./commands/users.ts'),
  },
  audit: { summary: 'show who did what: the audit log', load: () => import('./commands/audit.ts') },
  backup: {
    summary: 'back up all data to one file, even while a server runs',
    load: () => import('./commands/backup.ts'),
  },
  restore: { summary: 'restore a backup into a new data folder', load: () => import('./commands/restore.ts') },
  storage: {
    summary: 'prepare the Postgres database of several servers, and show its state',
    load: () => import('./commands/storage.ts'),
  },
  init: { summary: 'create a new project', load: () => import('./commands/init.ts') },
  doctor: { summary: 'find problems in this project and suggest fixes', load: () => import('./commands/doctor.ts') },
  completion: { summary: 'print a shell completion script', load: () => import('./commands/completion.ts') },
}

export const commands: readonly CommandEntry[] = commandNames.map((name) => ({ name, ...entries[name] }))
