import type { CommandModule } from '../command.ts'
import { addServeFlags, type ServeOptions } from '../flags.ts'
import { serve } from '../serve.ts'

export const command: CommandModule<ServeOptions> = {
  define: (command) => void addServeFlags(command).option('--no-watch', 'as it is anyway: start never watches'),
  run: (context, options) => serve(context, options, false),
}
