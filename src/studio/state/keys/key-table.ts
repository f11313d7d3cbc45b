/** What a key does, and the keys that do it. Keys that follow each other have a blank between them: `g c`. */
export type KeyRow = readonly [does: string, ...keys: string[]]

/** Every key of the studio, by where it counts. The help of the page and the table in docs/studio.md are made of it. */
export const keyGroups = {
  Everywhere: {
    help: ['show the keys', '?'],
    search: ['search in everything', '/'],
    chats: ['go to the chats', 'g c'],
    knowledge: ['go to the knowledge base', 'g k'],
    agents: ['go to the agents', 'g a'],
    tests: ['go to the tests', 'g t'],
    new: ['begin a new chat', 'n'],
    watch: ['watch file saves; at a run: ask it again at each', 'w'],
    left: ['go to the column on the left', 'h'],
    right: ['go to the column on the right', 'l'],
    close: ['close what is open; twice: stop the run', 'Escape'],
  },
  'In lists': {
    next: ['next row', 'j', 'ArrowDown'],
    previous: ['previous row', 'k', 'ArrowUp'],
    ends: ['first or last row', 'Home', 'End'],
    rows: ['ten rows up or down', 'PageUp', 'PageDown'],
    open: ['open the row', 'Enter'],
  },
  'At a run': {
    'next-step': ['next step', ']'],
    'previous-step': ['previous step', '['],
    expand: ['unfold or fold the step', 'x'],
    tab: ['show the first to sixth tab of the step', '1', '2', '3', '4', '5', '6'],
    play: ['play the run again as it was, or pause', 'Space'],
    'event-before': ['one event back', ','],
    'event-after': ['one event on', '.'],
    again: ['change it and run it again', 'e'],
    'same-again': ['run it again as it is; tools wait for you', 'r'],
    fork: ['go on after the run in a new session', 'f'],
    diff: ['compare with the run before', 'd'],
    'copy-curl': ['copy the run as curl', 'c u'],
    'copy-typescript': ['copy the run as TypeScript', 'c t'],
    'copy-markdown': ['copy the run as Markdown for a model', 'c m'],
    'copy-link': ['copy a link to the step', 'c l'],
  },
  'In a question that a run asks': {
    allow: ['allow', 'A'],
    refuse: ['refuse', 'R'],
  },
  'In a message': {
    send: ['send', 'Ctrl+Enter', 'Cmd+Enter'],
  },
} as const satisfies Record<string, Record<string, KeyRow>>

type Groups = typeof keyGroups
export type KeyId = { [Where in keyof Groups]: keyof Groups[Where] }[keyof Groups]
