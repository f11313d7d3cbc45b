import { addServeFlags, type ServeOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { serve } from '../dev/serve.ts'

export const command: CommandModule<ServeOptions> = {
  define: (command) =>
    void addServeFlags(command)
      .option('--no-watch', "don't reload when the config changes")
      .option('--open', 'open the studio in a browser')
      .option('--again', 'ask the last question again after each edit and show what changed in the answer'),
  run: (context, options) => serve(context, options, true),
}
