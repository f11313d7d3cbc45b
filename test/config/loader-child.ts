import { ConfigError } from '../../src/config/config-error.ts'
import { type LoadOptions, loadConfig } from '../../src/config/load.ts'

/* Runs the loader where Node alone imports modules: vitest would put its own loader in the way. */

process.on('message', async (options: LoadOptions) => {
  try {
    process.send?.({ loaded: await loadConfig(options) })
  } catch (error) {
    if (!(error instanceof ConfigError)) process.send?.({ unexpected: String((error as Error).stack ?? error) })
    else {
      const { message, file, line, excerpt, files } = error
      process.send?.({ failed: { message, file, line, excerpt, files } })
    }
  }
})
process.send?.('ready')
