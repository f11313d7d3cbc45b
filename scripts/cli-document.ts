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
2. Otherwise the server that is running on the data folder. It writes its address to \`server.json\` there.
3. Otherwise a server inside the command's own process, without a socket, which is closed at the end.

So the commands work with and without a running server.

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
