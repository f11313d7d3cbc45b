import { Command } from 'commander'
import { addConnectFlags, addProjectFlags } from '../src/cli/command/flags.ts'
import { defineAll } from '../src/cli/define-all.ts'
import { guides } from '../src/cli/help/guides.ts'

/** docs/cli.md, from the commands as they are. */
export async function cliDocument(): Promise<string> {
  const commands = await defineAll()
  const rows = commands.map((command) => [`[\`${usage(command)}\`](#agentserve-${command.name()})`, command.summary()])
  const connecting = commands.filter((command) => hasFlag(command, '--url')).map((command) => `\`${command.name()}\``)
  return [
    '<!-- Made from the commands: `vitest run test/cli/cli-document.test.ts -u` writes it. -->\n\n# Commands',
    `Run \`agentserve <command>\`; in a project, \`npx agentserve <command>\` (or \`pnpm exec agentserve\`, \`yarn agentserve\`,
\`bunx agentserve\`). Hints repeat the form that you used. \`agentserve --help\` lists the commands, \`agentserve help <command>\`
explains one with examples, and \`agentserve --version\` prints the version. Without a command, in a terminal,
it opens [a conversation about your documents](getting-started.md#ask-your-own-documents-at-once).`,
    table(['Command', 'What it does'], rows),
    '## Common flags',
    table(['Flag', 'Meaning'], flagRows(addProjectFlags(new Command()))),
    `The commands that talk to a server (${connecting.join(', ')}) also have:`,
    table(['Flag', 'Meaning'], flagRows(addConnectFlags(new Command()), commonFlags(addProjectFlags))),
    'Data is stored in the folder `.agentserve` next to the configuration, unless `--data` names another folder.',
    'Data goes to stdout, everything else to stderr.',
    `## Which server a command talks to

In this order:

1. The server that \`--url\` or \`AGENTSERVE_URL\` names.
2. Otherwise the process that owns the data folder: \`dev\` or \`start\`, or another command. \`server.json\` there says where it is.
3. Otherwise a server inside the command's own process. The command owns the folder until its end.

So any number of commands work side by side on one data folder, with and without a running server. A command that owns the
folder serves the others over a Unix socket there, \`agentserve.sock\`, or over a named pipe on Windows; it opens no port. Its config
answers: a command with another \`--config\` says so. All must be of the same version.

- When the owner ends, or its terminal is closed, it first finishes the runs of the others, for at most 10 s; Ctrl-C ends it at once. The others find the
  next owner, or become it, and go on.
- When the owner is killed, its runs are \`interrupted\`. A \`chat\` keeps what it has shown of the answer and offers to send the message again.
- \`dev\` and \`start\` take the folder over from a \`chat\` that has no run under way. They wait for up to 10 s and then say which
  command has it.
- A command that can't reach the owner within 5 s names it too.

An address and its key must come from the same place: \`--url\` with \`--key\`, or \`AGENTSERVE_URL\` with \`AGENTSERVE_KEY\`,
both in the environment or both in \`.env\`. The server of the data folder is sent \`--key\` or \`AGENTSERVE_KEY\`, or else one of
its own keys, after it has proved that it wrote \`server.json\` ([how](security.md#keys-that-commands-send)).`,
    ...commands.flatMap(section),
    '## Exit codes',
    table(
      ['Code', 'Meaning'],
      [
        ['0', 'success'],
        ['1', 'failure; the reason is on stderr'],
        ['2', 'the command was called wrongly, or a value is not valid'],
        ['130', 'stopped by Ctrl-C or SIGTERM'],
      ],
    ),
  ].join('\n\n')
}

function section(command: Command): string[] {
  const guide = guides[command.name()]
  const rows = [
    ...command.registeredArguments.map(({ description, argChoices }, index) => [
      `\`${usage(command).split(' ')[index + 1]}\``,
      withChoices(description, argChoices),
    ]),
    ...flagRows(command, commonFlags(addConnectFlags)),
  ]
  return [
    `## agentserve ${command.name()}`,
    ...(guide === undefined ? [] : [`\`\`\`sh\n${guide.examples.map(inProject).join('\n')}\n\`\`\``, guide.details]),
    ...(rows.length === 0 ? [] : [table(['Argument or flag', 'Meaning'], rows)]),
    ...(guide?.page === undefined ? [] : [`More: [${guide.page}](${guide.page}.md).`]),
  ]
}

function inProject(example: string): string {
  return example.replace(/(^|\| )agentserve/, '$1npx agentserve')
}

/** `chat <agentId>`. */
function usage(command: Command): string {
  const words = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '…' : ''}`
    return argument.required ? `<${name}>` : `[${name}]`
  })
  return [command.name(), ...words].join(' ')
}

function commonFlags(add: (command: Command) => Command): Set<string> {
  return new Set(add(new Command()).options.map(({ flags }) => flags))
}

function hasFlag(command: Command, name: string): boolean {
  return command.options.some(({ long }) => long === name)
}

function flagRows(command: Command, without: ReadonlySet<string> = new Set()): string[][] {
  return command.options
    .filter(({ flags }) => !without.has(flags))
    .map(({ flags, description, argChoices, defaultValue }) => {
      const usual = defaultValue === undefined || typeof defaultValue === 'boolean' ? '' : ` (default: ${defaultValue})`
      return [`\`${flags}\``, withChoices(description, argChoices) + usual]
    })
}

function withChoices(description: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? description : `${description}: ${choices.map((choice) => `\`${choice}\``).join(', ')}`
}

function table(header: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}
