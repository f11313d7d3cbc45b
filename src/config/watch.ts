import type { FSWatcher } from 'chokidar'
import { defaults } from './defaults.ts'

export interface ConfigWatch {
  /** Watches these files from now on, whether they exist or not. */
  update(files: readonly string[]): void
  close(): Promise<void>
}

export interface ConfigWatchOptions {
  files: readonly string[]
  /** Called when changes have been quiet for a moment; never while an earlier call is at work. */
  onChange: (changed: readonly string[]) => Promise<void>
  onError: (error: unknown) => void
}

/** Resolves when changes are seen. */
export async function watchConfig(options: ConfigWatchOptions): Promise<ConfigWatch> {
  const { watch } = await import('chokidar')
  const watcher: FSWatcher = watch([...options.files], { ignoreInitial: true })
  let watched = new Set(options.files)
  let changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let work = Promise.resolve()

  const fire = () => {
    timer = undefined
    work = work
      .then(async () => {
        const paths = [...changed]
        changed = new Set()
        if (paths.length > 0) await options.onChange(paths)
      })
      .catch(options.onError)
  }
  watcher.on('all', (_event, path) => {
    changed.add(path)
    clearTimeout(timer)
    timer = setTimeout(fire, defaults.reloadQuietMs)
  })
  watcher.on('error', options.onError)
  await new Promise<void>((resolve) => watcher.once('ready', () => resolve()))

  return {
    update(files) {
      const next = new Set(files)
      watcher.unwatch([...watched].filter((file) => !next.has(file)))
      watcher.add([...next].filter((file) => !watched.has(file)))
      watched = next
    },
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await work
    },
  }
}
