interface KeyRow {
  id: string
  /** Keys that follow each other have a blank between them: `g c`. */
  keys: readonly string[]
  does: string
}
interface KeyGroup {
  where: string
  keys: readonly KeyRow[]
}

/** Every key of the studio. The help of the page and the table in docs/studio.md are made of it. */
export const keyGroups = [
  {
    where: 'Everywhere',
    keys: [
      { id: 'help', keys: ['?'], does: 'show the keys' },
      { id: 'search', keys: ['/'], does: 'search in everything' },
      { id: 'chats', keys: ['g c'], does: 'go to the chats' },
      { id: 'knowledge', keys: ['g k'], does: 'go to the knowledge base' },
      { id: 'agents', keys: ['g a'], does: 'go to the agents' },
      { id: 'tests', keys: ['g t'], does: 'go to the tests' },
      { id: 'new', keys: ['n'], does: 'begin a new chat' },
      { id: 'watch', keys: ['w'], does: 'watch file saves; at a run: ask it again at each' },
      { id: 'left', keys: ['h'], does: 'go to the column on the left' },
      { id: 'right', keys: ['l'], does: 'go to the column on the right' },
      { id: 'close', keys: ['Escape'], does: 'close what is open; twice: stop the run' },
    ],
  },
  {
    where: 'In lists',
    keys: [
      { id: 'next', keys: ['j', 'ArrowDown'], does: 'next row' },
      { id: 'previous', keys: ['k', 'ArrowUp'], does: 'previous row' },
      { id: 'ends', keys: ['Home', 'End'], does: 'first or last row' },
      { id: 'rows', keys: ['PageUp', 'PageDown'], does: 'ten rows up or down' },
      { id: 'open', keys: ['Enter'], does: 'open the row' },
    ],
  },
  {
    where: 'At a run',
    keys: [
      { id: 'next-step', keys: [']'], does: 'next step' },
      { id: 'previous-step', keys: ['['], does: 'previous step' },
      { id: 'expand', keys: ['x'], does: 'unfold or fold the step' },
      { id: 'tab', keys: ['1', '2', '3', '4', '5', '6'], does: 'show the first to sixth tab of the step' },
      { id: 'play', keys: ['Space'], does: 'play the run again as it was, or pause' },
      { id: 'event-before', keys: [','], does: 'one event back' },
      { id: 'event-after', keys: ['.'], does: 'one event on' },
      { id: 'again', keys: ['e'], does: 'change it and run it again' },
      { id: 'same-again', keys: ['r'], does: 'run it again as it is; tools wait for you' },
      { id: 'fork', keys: ['f'], does: 'go on after the run in a new session' },
      { id: 'diff', keys: ['d'], does: 'compare with the run before' },
      { id: 'copy-curl', keys: ['c u'], does: 'copy the run as curl' },
      { id: 'copy-client', keys: ['c t'], does: 'copy the run as TypeScript' },
      { id: 'copy-markdown', keys: ['c m'], does: 'copy the run as Markdown for a model' },
      { id: 'copy-link', keys: ['c l'], does: 'copy a link to the step' },
    ],
  },
  {
    where: 'In a question that a run asks',
    keys: [
      { id: 'allow', keys: ['A'], does: 'allow' },
      { id: 'refuse', keys: ['R'], does: 'refuse' },
    ],
  },
  {
    where: 'In a message',
    keys: [{ id: 'send', keys: ['Ctrl+Enter', 'Cmd+Enter'], does: 'send' }],
  },
] as const satisfies readonly KeyGroup[]

export type KeyId = (typeof keyGroups)[number]['keys'][number]['id']
