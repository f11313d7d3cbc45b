/** In the order of the help. */
export const commandNames = [
  'dev',
  'start',
  'ask',
  'chat',
  'mcp',
  'ingest',
  'search',
  'knowledge',
  'sessions',
  'runs',
  'agents',
  'schedules',
  'test',
  'users',
  'audit',
  'backup',
  'restore',
  'storage',
  'init',
  'doctor',
  'completion',
] as const

export type CommandName = (typeof commandNames)[number]
