import { Argument } from 'commander'
import { UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import type { CommandModule } from '../command/module.ts'
import { findDataFolder } from '../connect/project.ts'
import { type IdKind, idKinds } from '../help/completed-ids.ts'
import { completionScript, shells } from '../help/completion-script.ts'
import { print, write } from '../terminal/output.ts'

interface CompletionOptions {
  data?: string
}

const what = [...shells, 'ids'] as const

export const command: CommandModule<CompletionOptions> = {
  define: (command) =>
    void command
      .addArgument(new Argument('<shell>', 'the shell, or ids').choices(what))
      .addArgument(new Argument('[kind]', 'with ids: what they name').choices(idKinds))
      .option('--data <folder>', 'with ids: the data folder (default: .agentserve)'),
  async run({ defineAll }, options, shell, kind) {
    if (shell !== 'ids') {
      if (kind !== undefined) throw new UsageError(`completion ${shell} takes nothing more.`)
      print(completionScript(shell as (typeof shells)[number], await defineAll()))
      return undefined
    }
    if (kind === undefined) throw new UsageError(`Say which ids: completion ids ${idKinds.join('|')}.`)
    const { idsFor } = await import('../connect/known-ids.ts')
    const { ids, waits } = await idsFor(kind as IdKind, await findDataFolder(options))
    await write(ids.map((id) => `${id}\n`).join(''))
    // A server that does not answer must not keep the process.
    if (waits) process.exit(exit.ok)
    return undefined
  },
}
