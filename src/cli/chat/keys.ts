/** What the keys of the chat do: `/help` shows it, and docs/cli.md has it. */
export const chatKeys: readonly (readonly [keys: string, about: string])[] = [
  ['Enter', 'send; while a run works, queue'],
  ['Shift-Enter, Alt-Enter, \\ Enter', 'new line'],
  ['Up, Down', 'earlier messages; in an empty line Up takes back what is queued'],
  ['Ctrl-R', 'search earlier messages'],
  ['Tab', 'complete commands, agents, sessions, models and @files'],
  ['Ctrl-O', 'open reasoning and tools, and close them'],
  ['Esc', 'stop the run and send what is queued; in a form, one field back'],
  ['Ctrl-C', 'clear the line and cancel the run; again to quit'],
  ['Ctrl-D', 'quit, in an empty line; while a run works, when it has ended'],
]
