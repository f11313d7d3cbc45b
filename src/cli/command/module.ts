import type { Command } from 'commander'

export interface CommandContext {
  /** The command's name, such as `chat`. */
  command: string
  /** Aborts at the first Ctrl-C or SIGTERM; a second one ends the process. */
  signal: AbortSignal
  stoppedBy(): NodeJS.Signals | undefined
  /** Loads every command with its arguments and flags, in the order of the help. */
  defineAll(): Promise<Command[]>
}

/** One command. `run` resolves with the exit code, default 0. */
export interface CommandModule<Options> {
  define(command: Command): void
  run(context: CommandContext, options: Options, ...args: string[]): Promise<number | undefined>
}

export interface CommandEntry {
  name: string
  summary: string
  load(): Promise<{ command: CommandModule<never> }>
}
