import { Argument } from 'commander'
import type { CommandModule } from '../command.ts'
import { completionScript, type Shell, shells } from '../completion-script.ts'
import { defineAll } from '../define-all.ts'
import { print } from '../output.ts'

export const command: CommandModule<object> = {
  define: (command) => void command.addArgument(new Argument('<shell>', 'which shell').choices(shells)),
  async run(_context, _options, shell) {
    print(completionScript(shell as Shell, await defineAll()))
    return undefined
  },
}
