import type { CommandModule } from '../command.ts'
import { addServeFlags, type ServeOptions } from '../flags.ts'
import { serve } from '../serve.ts'

export const command: CommandModule<ServeOptions> = {
  define: (command) => void addServeFlags(command).option('--no-watch', 'do not reload when the config changes'),
  run: (context, options) => serve(context, options, options.watch !== false),
}
