import type { CommandEntry } from './command.ts'

/** In the order of the help. A command's file is loaded when it is called. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'dev',
    summary: 'serve the agents of agent.config.ts, again after every save',
    load: () => import('./commands/dev.ts'),
  },
  { name: 'start', summary: 'serve them without watching files', load: () => import('./commands/start.ts') },
  {
    name: 'ask',
    summary: 'answer one question from files and folders',
    load: () => import('./commands/ask.ts'),
  },
  { name: 'chat', summary: 'talk to an agent', load: () => import('./commands/chat.ts') },
  {
    name: 'ingest',
    summary: 'put files and folders into the knowledge base',
    load: () => import('./commands/ingest.ts'),
  },
  { name: 'search', summary: 'find passages in the knowledge base', load: () => import('./commands/search.ts') },
  {
    name: 'knowledge',
    summary: 'show the knowledge base, list, show and delete documents, embed it again',
    load: () => import('./commands/knowledge.ts'),
  },
  {
    name: 'sessions',
    summary: 'browse, search, fork, export, import and delete conversations, or save one as a test',
    load: () => import('./commands/sessions.ts'),
  },
  {
    name: 'runs',
    summary: 'list, show, follow and cancel runs',
    load: () => import('./commands/runs.ts'),
  },
  { name: 'agents', summary: 'list and show agents, teams and workflows', load: () => import('./commands/agents.ts') },
  { name: 'test', summary: 'play saved conversations again', load: () => import('./commands/test.ts') },
  {
    name: 'users',
    summary: 'export or erase everything of one user',
    load: () => import('./commands/users.ts'),
  },
  {
    name: 'backup',
    summary: 'write everything that is kept to one file, also while a server runs',
    load: () => import('./commands/backup.ts'),
  },
  {
    name: 'restore',
    summary: 'make a data folder of a backup',
    load: () => import('./commands/restore.ts'),
  },
  { name: 'init', summary: 'start a new project', load: () => import('./commands/init.ts') },
  {
    name: 'doctor',
    summary: 'say what is wrong here, and what to do about it',
    load: () => import('./commands/doctor.ts'),
  },
  { name: 'completion', summary: 'make the Tab key complete commands', load: () => import('./commands/completion.ts') },
]
