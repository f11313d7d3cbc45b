import { ConfigError } from '../../../src/config/config-error.ts'
import { type LoadOptions, loadConfig } from '../../../src/config/load/load.ts'

/* Runs the loader where Node alone imports modules: vitest would put its own loader in the way. */

let dispose: (() => void | Promise<void>) | undefined

process.on('message', async (options: LoadOptions & { dispose?: boolean }) => {
  if (options.dispose) return void dispose?.()
  try {
    const loaded = await loadConfig({ ...options, onLateFile: (late) => process.send?.({ late }) })
    dispose = loaded.user?.dispose
    process.send?.({ loaded })
  } catch (error) {
    if (!(error instanceof ConfigError)) process.send?.({ unexpected: String((error as Error).stack ?? error) })
    else {
      const { message, file, line, excerpt, files } = error
      process.send?.({ failed: { message, file, line, excerpt, files } })
    }
  }
})
process.send?.('ready')
