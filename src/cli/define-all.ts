import { Command } from 'commander'
import { commands } from './commands.ts'

/** Loads every command with its arguments and flags, in the order of the help. */
export async function defineAll(): Promise<Command[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const command = new Command(name).summary(summary).helpOption('-h, --help', 'show this help')
      const { command: module } = await load()
      module.define(command)
      return command
    }),
  )
}
