import { relative } from 'node:path'
import { ConfigError } from '../../config/config-error.ts'
import type { ConfigWatch } from '../../config/load/watch.ts'
import { messageOf } from '../../core/error.ts'
import { createSerial } from '../../runtime/serial.ts'
import type { OpenServer } from '../../server.ts'
import { describeError } from '../command/exit.ts'
import type { Project } from '../connect/project.ts'
import { terminalLine } from '../terminal/text.ts'

export interface Reloader {
  /** Reads the config again, changed or not. Calls run one after the other. */
  reload(changed?: readonly string[]): Promise<void>
  add(file: string): void
  close(): Promise<void>
}

export interface ReloaderOptions {
  project: Project
  server: OpenServer
  load: (signal: AbortSignal) => Promise<Project>
  watch: boolean
  print: (text: string) => void
  onReloaded: (project: Project) => void
}

/** Replaces the served config. A config that does not load leaves the last good one in place. */
export function createReloader(options: ReloaderOptions): Reloader {
  const { server, load, print } = options
  let last = options.project
  let watch: ConfigWatch | undefined
  const reloads = createSerial()
  const closing = new AbortController()

  async function exchange(changed: readonly string[]): Promise<void> {
    const startedMs = performance.now()
    const readAtMs = Date.now()
    try {
      const next = await load(closing.signal)
      await server.reload(next.config)
      watch?.update(next.files, next.readAtMs)
      const names = changed.map((file) => terminalLine(relative(process.cwd(), file))).join(', ')
      const after = names === '' ? '' : ` after ${names}`
      print(`Reloaded${after} in ${Math.round(performance.now() - startedMs)} ms.${restartNote(last, next)}`)
      last = next
      options.onReloaded(next)
    } catch (error) {
      if (closing.signal.aborted) return
      if (error instanceof ConfigError) watch?.update([...new Set([...last.files, ...error.files])], readAtMs)
      server.reloadFailed(toLoadFailure(error))
      print(`${describeError(error)}\nStill serving the last good config.`)
    }
  }

  function reload(changed: readonly string[] = []): Promise<void> {
    return reloads.run(() => exchange(changed))
  }

  const onError = (error: unknown) => print(describeError(error))
  async function beginWatch({ files, readAtMs }: Project): Promise<void> {
    const { watchConfig } = await import('../../config/load/watch.ts')
    watch = await watchConfig({ files, readAtMs, onError, onChange: reload })
    if (last.files !== files) watch.update(last.files, last.readAtMs)
  }
  const watching = options.watch ? beginWatch(last).catch(onError) : undefined
  return {
    reload,
    add(file) {
      last = { ...last, files: [...last.files, file] }
      watch?.add(file)
    },
    async close() {
      closing.abort()
      await watching
      await watch?.close()
      await reloads.idle()
    },
  }
}

function toLoadFailure(error: unknown) {
  if (!(error instanceof ConfigError)) return { message: messageOf(error) }
  const { message, file, line, excerpt } = error
  return { message, ...(file && { file }), ...(line && { line }), ...(excerpt && { excerpt }) }
}

/** Names changed settings that need a restart. */
function restartNote(last: Project, next: Project): string {
  const settings = ({ config }: Project) => {
    const { logger: _logger, summaryManager: _manager, sessionStorage, ...rest } = config.server
    return JSON.stringify([
      config.dataFolder,
      rest,
      typeof sessionStorage === 'object'
        ? Object.entries(sessionStorage).filter(([, v]) => typeof v === 'string')
        : sessionStorage,
    ])
  }
  return settings(last) === settings(next) ? '' : ' Changes under `server` take effect after a restart.'
}
