import { Argument } from 'commander'
import type { CommandModule } from '../command/module.ts'
import { completionScript, type Shell, shells } from '../help/completion-script.ts'
import { print } from '../terminal/output.ts'

export const command: CommandModule<object> = {
  define: (command) => void command.addArgument(new Argument('<shell>', 'the shell').choices(shells)),
  async run({ defineAll }, _options, shell) {
    print(completionScript(shell as Shell, await defineAll()))
    return undefined
  },
}
