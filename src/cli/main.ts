import { Command, CommanderError } from 'commander'
import { nearest } from '../core/text/nearest.ts'
import { version } from '../core/version.ts'
import { exit } from './command/exit-codes.ts'
import type { CommandContext, CommandEntry } from './command/module.ts'
import { watchSignals } from './command/signals.ts'
import { commands } from './commands.ts'
import { hint } from './terminal/called-as.ts'
import { leaveQuietlyOnClosedPipe, say } from './terminal/output.ts'

/** Runs one command line (without `node` and the script) and resolves with its exit code. Never throws. */
export async function main(args: readonly string[]): Promise<number> {
  leaveQuietlyOnClosedPipe()
  const signals = watchSignals()
  try {
    const defineAll = async () => (await import('./define-all.ts')).defineAll()
    return await runCommand(args, { ...signals.context, command: args[0] ?? 'chat', defineAll })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 || isHelp(args) ? exit.ok : exit.usage
    if (signals.context.stoppedBy() !== undefined) return exit.interrupted
    const { describeError, exitCodeOf } = await import('./command/exit.ts')
    say(describeError(error))
    return exitCodeOf(error)
  } finally {
    signals.close()
  }
}

async function runCommand(args: readonly string[], context: CommandContext): Promise<number> {
  let exitCode: number = exit.ok
  const program = new Command('agentserve')
    .description('A dev server and toolkit for agents.')
    .version(version, '-v, --version')
    .helpOption('-h, --help')
    .exitOverride()
    .showHelpAfterError(`(${hint('--help')} shows all options)`)
  // commander reads the options of each command before it parses: only the called one is loaded.
  const called = args[0] === 'help' ? args[1] : args[0]
  for (const entry of commands) {
    const command = program.command(entry.name).summary(entry.summary).description(toSentence(entry.summary))
    if (entry.name !== called) command.allowUnknownOption().allowExcessArguments()
    else await prepare(command, entry, args, context, (code) => (exitCode = code))
  }
  if (args.length === 0) return withoutCommand(program, context)
  await program.parseAsync(args, { from: 'user' })
  return exitCode
}

/** In a terminal a conversation, else the help. */
async function withoutCommand(program: Command, context: CommandContext): Promise<number> {
  const help = () => program.outputHelp()
  if (process.stdin.isTTY && process.stdout.isTTY) return (await import('./commands/alone.ts')).alone(context, help)
  help()
  return exit.ok
}

async function prepare(
  command: Command,
  entry: CommandEntry,
  args: readonly string[],
  context: CommandContext,
  finish: (code: number) => void,
): Promise<void> {
  const { command: module } = await entry.load()
  module.define(command)
  if (args.some((arg) => ['help', '--help', '-h'].includes(arg))) {
    const { helpAfter } = await import('./help/help-after.ts')
    command.addHelpText('after', helpAfter(entry.name))
  }
  command.configureOutput({ outputError: (text, write) => write(withChoice(text)) })
  command.showHelpAfterError(`(${hint(`${entry.name} --help`)} shows all options)`)
  command.exitOverride().action(async (...given: unknown[]) => {
    // commander passes the arguments, the options, and the command.
    const values = given
      .slice(0, -2)
      .flat()
      .filter((value) => value !== undefined) as string[]
    if (command.opts().plain === true) process.env.TERM = 'dumb'
    finish((await module.run(context, command.opts() as never, ...values)) ?? exit.ok)
  })
}

/** An error of commander about a word that is a slip away from one of the choices. */
function withChoice(text: string): string {
  const [, word = '', choices] =
    /'([^']*)' is invalid(?: for argument '[^']*')?\. Allowed choices are (.*)\.$/m.exec(text) ?? []
  const meant = choices === undefined ? undefined : nearest(word, choices.split(', '))
  return meant === undefined ? text : `${text.trimEnd()}\n(Did you mean ${meant}?)\n`
}

/** commander ends `help` with the process's current exit code, which is failure until a command has ended. */
function isHelp([first, name]: readonly string[]): boolean {
  return first === 'help' && (name === undefined || commands.some((entry) => entry.name === name))
}

function toSentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`
}
