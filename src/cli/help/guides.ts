export interface Guide {
  details: string
  examples: readonly string[]
  page?: string
}

const session = 'ses_01m8y3c9ph8r1d3m5n7p9s2t4v'
const run = 'run_01m8y3c9pj5t0q2v7wkd4hx6ag'

export const guides: Readonly<Record<string, Guide>> = {
  dev: {
    details: `Prints the server's address, what it serves and the models it uses. Ingests \`knowledge.sources\` in the background.

Saving the configuration, or any file it imports, reloads it without a restart. That includes workspace packages,
CommonJS files and \`.env\`. Active runs keep the configuration they started with. If an edit is broken, the error is
shown with file, line and the surrounding lines, and the last good configuration stays in use.

Each run prints one line when it ends: status, agent, session, time to first text, total time, tokens, cost, searches and tools. If more
than ten runs end within a second, the rest are only counted.

Keys in a terminal: \`o\` opens the studio (where it is off, the documentation of the API), \`r\` reloads, \`c\` clears,
\`q\` quits. \`a\` asks the last question again, now and after each edit, and shows what changed in the answer; \`a\` again
stops that. Each repeated question gets a new session without the earlier messages. NO_COLOR turns colours off;
\`[-this-]\` then marks removed text and \`{+that+}\` added text.

\`--open\` opens the same page at the start, in the system's browser or in the program that BROWSER names. Over SSH, in CI and
without a display the address is printed instead, unless BROWSER is set.

Set the port with \`--port\` and the address with \`--host\`. An address that other machines can reach needs API keys. A
port that you name must be free.

A run that fails is shown once: its line, the message, and the place in your code. A model that can't answer (its package or key is missing, its
server on this machine does not run or does not have it) is told in one line with the cure, at the start and after a reload.

Ctrl-C stops the server. It says for which runs it waits, at most ten seconds; then they are cancelled and recorded. A second Ctrl-C exits at once.`,
    examples: ['agentserve dev', 'agentserve dev --port 3000 --open', 'agentserve dev --again'],
    page: 'configuration',
  },
  start: {
    details: 'Starts the same server as dev, but does not watch files or keys. The log is JSON on stderr.',
    examples: ['agentserve start', 'agentserve start --host 0.0.0.0 --port 80'],
    page: 'security',
  },
  ask: {
    details: `Prints the answer to one question on stdout, followed by its sources: rendered in a terminal, as it is in a pipe. Files and folders that you name are added to the
knowledge base first, unless they are unchanged.`,
    examples: ['agentserve ask "How do I set the port?"', 'agentserve ask "How do I set the port?" docs README.md'],
    page: 'knowledge',
  },
  chat: {
    details: `In a terminal, starts a conversation: the answer streams with its Markdown rendered; reasoning, tools, steps and sources
appear as they happen. \`/help\` shows the commands and keys. Ctrl-C clears the line, which Up brings back, and cancels the answer. A
second Ctrl-C quits (exit code 130) and prints how to continue. If a run needs an approval or input, the next line answers it.
A lost connection is retried; a message whose run was interrupted can be sent again. NO_COLOR turns colours off. At most one million characters of an answer are shown; \`/save\` writes
all of them to a file.

With \`--message\` it prints one answer and exits.

Without a terminal, chat reads one message per line from stdin and prints the answers as plain text, or with \`--json\` the
events of each run. The exit code is 0 if all runs completed, 1 if a run failed or needs an answer, 2 for a wrong call, and
130 after Ctrl-C. With \`--url\`, any server that speaks the A2A dialect works; one that is not agentserve sends text only. A
message answers the run of its session that waits for input. If that run waits for an approval or a tool, chat exits with 1 and
prints the command that answers it.`,
    examples: [
      'agentserve chat docs',
      'agentserve chat docs --continue',
      'agentserve chat docs --message "How do I set the port?"',
      'echo "How do I set the port?" | agentserve chat docs',
    ],
    page: 'terminal',
  },
  mcp: {
    details: `Speaks MCP on stdin and stdout, for a host that starts it: a coding assistant, for example. It offers \`search\` and \`fetch\` over
the documents, a tool \`ask_…\` for each agent, team and workflow, and \`get_run\`, \`answer_run\` and \`cancel_run\`. Only
messages go to stdout; what agents, libraries and programs print there goes to stderr.

Calls go to the process that owns the data folder, or else to a server in this one. That one is closed a second after the last
call, so other commands, hosts and servers can use the folder meanwhile. The next call reads the config and the sources again,
and tells the host when the tools have changed. While files are still being read, \`search\` answers from those that are there and
says how many are to come (\`files_to_come\`). Approvals and questions of a run are put to the person at the host, if the host can.

With a config that can't be loaded the program starts all the same: each tool then says what is wrong, until it is mended.

When the host closes stdin, runs in this process are cancelled and the exit code is 0. Use \`dev\` or \`start\` beside it for
runs that outlive the host.

\`--print-config <host>\` prints what to paste into the configuration of a host; on stderr it says into which file. The host then
starts agentserve by itself, with this folder's agents and documents. With \`--http\` it prints the form that calls the URL of a
server: the one that \`--url\` names, or the one that runs on the data folder. A key is never printed: the form reads
\`AGENTSERVE_KEY\`, asks for the key, or has a placeholder.`,
    examples: [
      'agentserve mcp --print-config claude-code',
      'agentserve mcp --agent docs',
      'agentserve mcp --print-config vscode --http --url https://agents.example.com',
    ],
  },
  ingest: {
    details: `Adds files, folders, globs, https:// addresses and stdin (\`-\`) to the knowledge base. Shows a progress bar, and at the
end what was added, replaced or unchanged, and what was skipped and why. Only changed content is embedded again. Dotfiles,
\`node_modules\` and files that \`.gitignore\` ignores are skipped unless you name them. Ctrl-C never leaves a partial
document.

Addresses, including redirects, must be https:// and on the public internet. \`--allow-http\` and \`--allow-private\` lift
these limits.`,
    examples: [
      'agentserve ingest ./docs README.md',
      'agentserve ingest docs --prune --dry-run',
      'agentserve ingest docs --metadata topic=office',
    ],
    page: 'knowledge',
  },
  search: {
    details: `Prints the best matching passages, each with file, line and score (0 to 1, higher is better). \`--explain\` adds the
rank of each passage in the keyword list and the vector list, and the line with the most matching words.`,
    examples: [
      'agentserve search "opening hours"',
      'agentserve search --mode keyword "opening hours"',
      'agentserve search --explain --filter topic=office "opening hours"',
    ],
    page: 'knowledge',
  },
  knowledge: {
    details: `\`knowledge\` without an action is \`knowledge status\`: the number of documents, chunks and vectors, what is not embedded
yet, and the embedder. \`list\` shows the documents, \`show\` prints one, \`delete\` deletes them, \`config\` shows the available
readers, chunkers and embedders, \`explain\` says why a search finds what it finds, with \`--agent\` as that agent
searches, and \`reindex\` computes every vector again, with another embedder if you name one.`,
    examples: [
      'agentserve knowledge status',
      'agentserve knowledge list',
      'agentserve knowledge show README.md',
      'agentserve knowledge explain --agent docs "opening hours"',
      'agentserve knowledge reindex --embedder lexical',
    ],
    page: 'knowledge',
  },
  sessions: {
    details: `In a terminal, \`sessions\` without an action opens the browser. It lists the sessions by their titles, the most recently used
first, with the last message of each; Home and End go to the very first and last. Enter opens a session with its runs, tools,
errors, times and tokens; active runs are followed live. \`/\` filters as you type: titles, agents, and all that was said, where
Enter opens the message that was found. \`c\` continues a session in chat, \`d\` deletes it after a confirmation, \`?\` shows the
keys, and \`q\`, Esc or Ctrl-C (exit code 130) quit. NO_COLOR turns colours off. A lost connection is retried.

Without a terminal, or with \`--json\` or a flag of the list, it is \`sessions list\`: each session with its number of runs,
its tokens and cost, and the status of the last one. \`show\` prints a conversation with its runs, their times, tokens, tools and errors, and the
sources that an answer does not cite, and the session's address in the studio if a server is running. \`show --events\` prints every recorded event. \`show --why <run>\` prints what each
model call of the run received: the exact prompt, passages with their ranks, tool inputs and outputs. \`tail\` follows each
new run of a session until Ctrl-C (exit code 130).

\`search\` finds messages that contain all the words, newest first; \`open*\` also finds \`opening\`. \`summary\` prints the
latest summary, or writes one if there is none. \`fork\` copies the runs up to a given one into a new session. \`reuse\` gives a
session to another agent, team, workflow or user. \`export\` writes whole sessions as JSON lines. \`import\` reads them back,
each session completely or not at all; \`--new-ids\` imports them next to existing ones. \`delete\` deletes sessions
permanently. \`prune\` deletes sessions that have not changed for a long time, after a confirmation, except those with a
running or queued run. \`save-test\` saves a conversation as a test that needs no model.`,
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
    details: `\`runs\` without an action is \`runs list\`: the runs of all sessions, newest first, with time, tokens and session. \`show\`
prints one run: status, times, tokens, tools, error, input and output, and its address in the studio if a server is running. \`show --events\` prints every recorded event;
\`show --why\` prints the prompt and the answer of each model call, and of each search a table of its passages: the number by
which the model was told of each (\`-\`: it was not), its rank and score, those in each list, and its lines. \`show --as\` prints the run
[as text](runs-and-sessions.md#a-run-as-text): Markdown for a model, a command for \`curl\`, a program, or a component with \`useChat\`. \`tail\` follows a run from its beginning, even after its
end, and retries a lost connection. Its exit code is 0 if the run completed, 1 if it did not, and 130 after Ctrl-C, which
does not cancel the run. \`resume\` answers a run that waits, or takes up an interrupted workflow, and then prints and exits as
\`tail\` does. \`--approve\`, \`--deny\` and \`--input\` answer everything that waits; \`--call\` answers one call, and is needed
when a run waits for several kinds of answers. \`show\` and \`list\` print what a run waits for, and the command that answers it.
\`cancel\` cancels a run that is queued, running or waiting for input.

\`again\` repeats a run that has ended, and prints the new one as \`tail\` does. With \`--from\` all before that event is taken over
from the record; \`show --events\` prints the numbers. \`--input\`, \`--instructions\` and \`--model\` change what is made anew. Each tool
call and each step of a workflow then waits for \`resume --approve\`; with \`--after recorded\` the record answers those that it has,
and with \`--after live\` they are made. The session stays as it is, unless \`--keep\` says \`fork\` (a new session) or \`replace\`.
\`--times\` starts several, which are printed one after the other.`,
    examples: [
      'agentserve runs list',
      'agentserve runs list --status failed --agent echo',
      `agentserve runs show ${run}`,
      `agentserve runs show ${run} --why`,
      `agentserve runs tail ${run}`,
      `agentserve runs resume ${run} --approve`,
      `agentserve runs again ${run} --from 9 --instructions "Answer in one sentence."`,
      `agentserve runs cancel ${run} --reason "asked twice"`,
    ],
    page: 'runs-and-sessions',
  },
  agents: {
    details: `\`agents\` without an action is \`agents list\`: the agents, teams and workflows with id, kind, model, knowledge, tools and
description. \`show\` prints one of them with a description of each tool.`,
    examples: ['agentserve agents', 'agentserve agents show docs', 'agentserve agents --json'],
    page: 'agents',
  },
  test: {
    details: `Replays conversations saved by \`sessions save-test\`: the named files, or every \`*.session.json\` under this folder. Prints
the differences. The exit code is 1 if there are any.`,
    examples: ['agentserve test'],
    page: 'testing',
  },
  init: {
    details: `Creates a project in the folder (default: the current one) with an \`agent.config.ts\`, a test, a \`.env.example\` and
scripts. In a terminal it asks for a template, and asks again before it overwrites a file. Without a terminal the template
is \`basic\`, and nothing is written if one of its files already exists. A \`package.json\` and a \`.gitignore\` that exist, such as
those of \`npm init -y\` and \`npm install agentserve\`, keep what they have and get what is missing. Where agentserve is not installed,
\`npm create agentserve@latest <folder>\` does the same.

\`basic\` is an agent that answers from your documents, \`knowledge\` shows two ways of answering from documents, \`team\` is a
team of agents that work together, \`workflow\` has steps in plain TypeScript, \`chat-ui\` is a web page in React that talks to
your agents with \`useChat\`.`,
    examples: ['agentserve init my-agents --template basic'],
    page: 'getting-started',
  },
  schedules: {
    details: `Lists the schedules of the configuration, with the next due time and the last run. \`run\` starts a run of one now, in the
background, and prints its id. \`pause\` stops a schedule until \`resume\`, also over restarts; nothing is made up for. Due times start
runs in \`dev\` and \`start\` only.`,
    examples: ['agentserve schedules', 'agentserve schedules run nightly', 'agentserve schedules pause nightly'],
    page: 'schedules',
  },
  users: {
    details: `\`facts\` lists what agents with user memory remember about one user, and \`forget\` deletes a fact, or all of them.

\`export\` prints all data of one user as JSON lines. \`erase\` deletes it: the sessions that now belong to the user, the
content of the user's runs in other sessions, and the facts. Where \`forget\` and \`erase\` delete everything they ask for
confirmation; without a terminal they need \`--yes\`.`,
    examples: [
      'agentserve users facts ann',
      'agentserve users forget ann --yes',
      'agentserve users export ann --output ann.jsonl',
      'agentserve users erase ann --yes',
    ],
    page: 'backup',
  },
  audit: {
    details: `Shows the audit log, newest first: who did what to which object, when and with what outcome, without contents.
Deletes, exports, imports, forks, approvals, cancelled and replaced runs, changes of sessions, knowledge, schedules and configuration, and uses and
refusals of keys are in it. docs/security.md has all of it, and what is left out.
An outcome that is \`unknown\` belongs to an action that is under way, or whose server ended first.`,
    examples: [
      'agentserve audit',
      'agentserve audit --action session.delete --since 7d',
      'agentserve audit --caller desk --json',
    ],
    page: 'security',
  },
  backup: {
    details: `Writes the sessions and documents to one tar file that only you can read. It works with and without a running server.
Vectors and the search index are not included; they are rebuilt after a restore. An existing file is never overwritten.`,
    examples: ['agentserve backup agentserve.tar'],
    page: 'backup',
  },
  restore: {
    details: `Restores a backup into a data folder. The folder must be empty or missing, and no process may use it. The whole file is
checked first; if a check fails, nothing is restored.`,
    examples: ['agentserve restore agentserve.tar --data restored'],
    page: 'backup',
  },
  storage: {
    details: `For sessions and knowledge in Postgres (\`server.storage\`). \`status\` shows the version of Postgres, the role, the tables and their
sizes, and the servers that share the database: the seconds since the last beat of each, how many runs it has, and the newest step of the
tables that it knows. The exit code is 1 if tables are missing, or if a newer version has changed them so that this one can't use them.
\`prepare\` makes the tables that are missing, as each server does when it starts: older servers go on working. \`upgrade\` also makes
the changes that older servers can't work with. It fails and names them while such servers run, and waits for those that are silent
until they count as dead. \`--print\` only prints the statements that are missing, for a database whose owner must execute them, with the
rights that the role of the servers needs.`,
    examples: [
      'agentserve storage status',
      'agentserve storage prepare',
      'agentserve storage prepare --print',
      'agentserve storage upgrade',
    ],
    page: 'postgres',
  },
  doctor: {
    details: `Checks Node, the native libraries, the data folder and its disk space, the configuration, the port, the models and their
keys (never shown), the embedding model, the tools of MCP servers (it starts the servers to ask them), the knowledge
base, and for sessions in Postgres the database: version, role, tables, servers, connections, clock, and the plan of commits. Each check prints one line; a problem comes with what to do. The exit code is 1 if something is wrong; warnings do not
count.

\`--accept-tools <entry>\` runs no checks. It accepts the tools of that entry as they are now, so that changed tools no
longer need approval for every call.`,
    examples: ['agentserve doctor', 'agentserve doctor --json', 'agentserve doctor --accept-tools files'],
    page: 'troubleshooting',
  },
  completion: {
    details: `Prints a script that completes commands, flags, agents, sessions, runs and documents with the Tab key. For bash, put \`source <(agentserve completion bash)\`
into \`~/.bashrc\`. For zsh, put \`source <(agentserve completion zsh)\` into \`~/.zshrc\` after \`compinit\`. For fish, write the
output to \`~/.config/fish/completions/agentserve.fish\`.

The ids come from the data folder of the working folder, and agents from its running server too. Shells complete the word
\`agentserve\`, not \`npx agentserve\`: in a project, write \`alias agentserve='npx agentserve'\` first; then the script asks
\`node_modules/.bin/agentserve\`. \`completion ids sessions\` prints what Tab would offer.`,
    examples: ['agentserve completion bash', 'agentserve completion ids sessions'],
  },
}
