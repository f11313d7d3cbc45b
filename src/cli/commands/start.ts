import { addServeFlags, type ServeOptions } from '../command/flags.ts'
import type { CommandModule } from '../command/module.ts'
import { serve } from '../dev/serve.ts'

export const command: CommandModule<ServeOptions> = {
  define: (command) => void addServeFlags(command).option('--no-watch', 'has no effect: start never watches'),
  run: (context, options) => serve(context, options, false),
}
