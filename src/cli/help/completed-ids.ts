export const idKinds = ['agents', 'sessions', 'runs', 'documents'] as const
export type IdKind = (typeof idKinds)[number]

/** What the arguments of a command, or of one of its actions, name. */
export const idArguments: Readonly<Record<string, IdKind>> = {
  chat: 'agents',
  'agents show': 'agents',
  ...Object.fromEntries(
    ['show', 'files', 'file', 'tail', 'summary', 'fork', 'reuse', 'export', 'delete', 'save-test'].map((action) => [
      `sessions ${action}`,
      'sessions' as const,
    ]),
  ),
  ...Object.fromEntries(
    ['show', 'tail', 'cancel', 'resume', 'again'].map((action) => [`runs ${action}`, 'runs' as const]),
  ),
  'knowledge show': 'documents',
  'knowledge delete': 'documents',
}

/** What the value of a flag names, in every command that has it. */
export const idFlags: Readonly<Record<string, IdKind>> = {
  '--agent': 'agents',
  '--team': 'agents',
  '--workflow': 'agents',
  '--session': 'sessions',
  '--at': 'runs',
  '--before': 'runs',
}
