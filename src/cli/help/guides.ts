/** What `agentserve help <command>` and docs/cli.md say of a command beyond its flags. */
export interface Guide {
  details: string
  /** Whole command lines. */
  examples: readonly string[]
  /** The page of docs/ that tells more. */
  page?: string
}

const session = 'ses_01m8y3c9ph8r1d3m5n7p9s2t4v'
const run = 'run_01m8y3c9pj5t0q2v7wkd4hx6ag'

export const guides: Readonly<Record<string, Guide>> = {
  dev: {
    details: `Says where the server is, what it serves and with which models, takes in \`knowledge.sources\` in the background,
and puts a saved edit of the configuration, or of anything it imports, into service without a restart: packages of the
workspace, CommonJS files and \`.env\` too. Runs that have begun go on with what they began with. A broken edit is shown
with file, line and the lines around, while the last good configuration goes on serving.

Each run that ends is one line: status, agent, session, time to the first text and in all, tokens, tools. When more
than ten end in a second, the rest are counted.

In a terminal these keys work: \`o\` opens the documentation page, \`r\` reloads, \`a\` asks the last question again, now and
after each edit, and shows how the answer has changed (\`a\` again stops that), \`c\` clears, \`q\` quits. A question is asked
again in a session of its own, without the messages before it. NO_COLOR turns colours off; there \`[-this-]\` has gone
from an answer and \`{+that+}\` is new.

Set the port with \`--port\`, the address with \`--host\`; one beyond this machine needs keys. A port that you name must be
free.

Ctrl-C stops the server; running work is ended and recorded. A second Ctrl-C ends it at once.`,
    examples: ['agentserve dev', 'agentserve dev --port 3000 --open', 'agentserve dev --again'],
    page: 'configuration',
  },
  start: {
    details: 'The same server without watching files, keys and lines for each run; its log is JSON on stderr.',
    examples: ['agentserve start', 'agentserve start --host 0.0.0.0 --port 80'],
    page: 'security',
  },
  ask: {
    details: `Answers one question: the answer on stdout, then its sources. Files and folders that are named are taken into the
knowledge base first, as far as they are new.`,
    examples: ['agentserve ask "How do I set the port?"', 'agentserve ask "How do I set the port?" docs README.md'],
    page: 'knowledge',
  },
  chat: {
    details: `In a terminal, a conversation: the answer as it streams, its Markdown rendered and its code coloured, with tools, steps and
sources as they happen. Enter sends; Shift-Enter (where the terminal reports it), Alt-Enter or \`\\\` at the end of the line
begins another line; Up and Down bring back what was said before. Ctrl-C clears the line, which Up brings back, and cancels the answer; a second one leaves (exit code 130) and says how
to go on. When a run waits for an approval or for input, the next line answers it. A lost connection is taken up again.

\`/new\`, \`/sessions\`, \`/switch\`, \`/agent\`, \`/summary\`, \`/sources\`, \`/save\`, \`/clear\` and \`/help\` are commands. NO_COLOR turns
colours off. Of one answer, a million characters are shown; \`/save\` keeps all.

Without a terminal it reads one message a line from stdin and prints the answers as plain text, or with \`--json\` the events
of each run. The exit code is 0 when all runs went well, 1 when one failed or waits for an answer, 2 for a wrong call, 130
after Ctrl-C. With \`--url\` any server of the A2A dialect will do; one that is not agentserve gives text only.`,
    examples: [
      'agentserve chat docs',
      'agentserve chat docs --continue',
      'agentserve chat docs --message "How do I set the port?"',
      'echo "How do I set the port?" | agentserve chat docs',
    ],
    page: 'agents',
  },
  ingest: {
    details: `Reads files, folders, globs, https:// addresses and stdin (\`-\`) into the knowledge base, with a progress bar, and says at
the end what was added, replaced, unchanged, and skipped and why. Only what changed is embedded again. Dotfiles,
\`node_modules\` and what \`.gitignore\` ignores are left out unless named. Ctrl-C leaves whole documents only.

A server that an address leads to must be on the public internet, wherever it redirects; \`--allow-http\` and
\`--allow-private\` take that back.`,
    examples: [
      'agentserve ingest ./docs README.md',
      'agentserve ingest docs --prune --dry-run',
      'agentserve ingest docs --metadata topic=office',
    ],
    page: 'knowledge',
  },
  search: {
    details: `Prints the passages that fit best, each with file, line and score (0 to 1, higher is better). \`--explain\` adds
their ranks in the keyword and the vector list and the line that has the most of the words.`,
    examples: [
      'agentserve search "opening hours"',
      'agentserve search --mode keyword "opening hours"',
      'agentserve search --explain --filter topic=office "opening hours"',
    ],
    page: 'knowledge',
  },
  knowledge: {
    details: `\`knowledge\` alone is \`knowledge status\`: documents, chunks, vectors, what is still to be embedded, and the
embedder. \`list\` shows the documents, \`show\` what is kept of one, \`delete\` takes them out, \`config\` says what there is to
choose from, and \`reindex\` computes every vector again, with another embedder when one is named.`,
    examples: [
      'agentserve knowledge status',
      'agentserve knowledge list',
      'agentserve knowledge show README.md',
      'agentserve knowledge reindex --embedder lexical',
    ],
    page: 'knowledge',
  },
  sessions: {
    details: `In a terminal, \`sessions\` alone opens the browser: the sessions, the most recently used first, with what was said
last. Enter opens one: its runs with tools, errors, times and tokens, those at work followed as they go. \`/\` searches all
conversations, \`c\` goes on with a session in chat, \`d\` deletes it after asking, \`?\` shows the keys; \`q\`, Esc or Ctrl-C (exit
code 130) leave. NO_COLOR turns colours off. A lost connection is taken up again.

Elsewhere, and with \`--json\` or a flag of the list, it is \`sessions list\`: with the number of runs and the status of
the last. \`show\` prints the conversation with its runs, their times, tokens, tools and errors, and the sources that an
answer does not name itself; with \`--events\` everything that was recorded, with \`--why <run>\` what each model call of that
run was told: the exact prompt, passages with their scores, tool inputs and outputs. \`tail\` follows the session from now on,
each new run as it goes, until Ctrl-C (exit code 130).

\`search\` finds messages that have all the words, the newest first; \`open*\` finds \`opening\` too. \`summary\` prints the latest
summary, and has one made when there is none. \`fork\` begins another session with the runs up to one, \`reuse\` gives a session
to another agent, team, workflow or user. \`export\` writes whole sessions as JSON lines, which \`import\` makes the same
sessions of again, each whole or not at all; \`--new-ids\` puts them beside those that are there. \`delete\` deletes sessions
for good, \`prune\` those that have not changed for long, after asking, but none in which something runs or waits for its
turn. \`save-test\` writes a conversation as a test that needs no model.`,
    examples: [
      'agentserve sessions',
      'agentserve sessions list --agent docs --limit 50',
      `agentserve sessions show ${session}`,
      `agentserve sessions show ${session} --why ${run}`,
      `agentserve sessions tail ${session}`,
      'agentserve sessions search opening hours',
      `agentserve sessions fork ${session} --at ${run}`,
      `agentserve sessions export ${session} --output session.jsonl`,
      'agentserve sessions import session.jsonl --new-ids',
      'agentserve sessions prune --older-than 30d --dry-run',
      `agentserve sessions delete ${session}`,
      `agentserve sessions save-test ${session}`,
    ],
    page: 'runs-and-sessions',
  },
  runs: {
    details: `\`runs\` alone is \`runs list\`: the newest runs of all sessions first, with time, tokens and session. \`show\` prints one:
status, times, tokens, tools, error, input and output; with \`--events\` everything that was recorded, with \`--why\` what each
model call was told and gave. \`tail\` follows a run
as it happens, from its beginning, also after its end; a lost connection is taken up again. Its exit code says how the run
went: 1 unless it completed, 130 after Ctrl-C, which leaves the run alone. \`cancel\` ends one that is under way or waits.`,
    examples: [
      'agentserve runs list',
      'agentserve runs list --status failed --agent echo',
      `agentserve runs show ${run}`,
      `agentserve runs show ${run} --why`,
      `agentserve runs tail ${run}`,
      `agentserve runs cancel ${run} --reason "asked twice"`,
    ],
    page: 'runs-and-sessions',
  },
  agents: {
    details: `\`agents\` alone is \`agents list\`: what is served, with id, kind, model, knowledge, tools and description. \`show\` prints one,
with what each of its tools is for.`,
    examples: ['agentserve agents', 'agentserve agents show docs', 'agentserve agents --json'],
    page: 'agents',
  },
  test: {
    details: `Plays the conversations that \`sessions save-test\` saved, named ones or every \`*.session.json\` below the folder, and
says what differs. The exit code is 1 when something does.`,
    examples: ['agentserve test'],
    page: 'testing',
  },
  init: {
    details: `Writes a project with an \`agent.config.ts\`, a test, a \`.env.example\` and scripts into the folder (default: the working
directory). In a terminal it asks what to start from, and before it replaces a file; without one the template is \`basic\`,
and nothing is written when one of its files is there already. \`basic\` is an agent that answers from your documents,
\`knowledge\` two ways of answering from documents, \`team\` agents that work together, \`workflow\` steps in plain TypeScript.`,
    examples: ['agentserve init my-agents --template basic'],
    page: 'getting-started',
  },
  users: {
    details: `\`export\` prints everything of one user as JSON lines. \`erase\` deletes it: the sessions whose present user it is, and
what was said in the user's runs in other sessions. It asks first; without a terminal it needs \`--yes\`.`,
    examples: ['agentserve users export ann --output ann.jsonl', 'agentserve users erase ann --yes'],
    page: 'backup',
  },
  backup: {
    details: `Writes the sessions and the documents to one tar file that only you may read, while a server runs or without one.
Vectors and the search index are not in it; they are made again. A file that is there already is never replaced.`,
    examples: ['agentserve backup agentserve.tar'],
    page: 'backup',
  },
  restore: {
    details: `Makes the data folder of a backup. The folder must be empty or absent, and no process may use it. Everything in the
file is checked first; when a check fails, nothing is restored.`,
    examples: ['agentserve restore agentserve.tar --data restored'],
    page: 'backup',
  },
  doctor: {
    details: `Looks at Node, the native libraries, the data folder and the space on its disk, the configuration, the port, the
models and their keys (which are never shown), the embedding model, the tools of MCP servers (which it starts to ask them)
and the knowledge base. A line each; what is not right says what to do. The exit code is 1 when something is wrong; a warning
is not.

\`--accept-tools <entry>\` looks at nothing else: it confirms that the tools of that entry may be as they are now, so that
those that changed no longer ask for every call.`,
    examples: ['agentserve doctor', 'agentserve doctor --json', 'agentserve doctor --accept-tools files'],
    page: 'troubleshooting',
  },
  completion: {
    details: `Prints what makes the Tab key complete commands and flags. For bash, put \`source <(agentserve completion bash)\` into
\`~/.bashrc\`; for zsh, \`source <(agentserve completion zsh)\` into \`~/.zshrc\` after \`compinit\`; for fish, write its output to
\`~/.config/fish/completions/agentserve.fish\`.`,
    examples: ['agentserve completion bash'],
  },
}
