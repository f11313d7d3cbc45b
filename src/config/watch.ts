import { dirname, resolve } from 'node:path'
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
  // Folders, not files: an editor that puts a new file in the old one's place would end a watch of the file.
  const watcher: FSWatcher = watch(foldersOf(options.files), { ignoreInitial: true, depth: 0 })
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
    if (!watched.has(path)) return
    changed.add(path)
    clearTimeout(timer)
    timer = setTimeout(fire, defaults.reloadQuietMs)
  })
  watcher.on('error', options.onError)
  await new Promise<void>((done) => watcher.once('ready', () => done()))

  return {
    update(files) {
      const earlier = new Set(foldersOf([...watched]))
      watched = new Set(files)
      const folders = new Set(foldersOf(files))
      watcher.unwatch([...earlier].filter((folder) => !folders.has(folder)))
      watcher.add([...folders].filter((folder) => !earlier.has(folder)))
    },
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await work
    },
  }
}

function foldersOf(files: readonly string[]): string[] {
  return [...new Set(files.map((file) => dirname(resolve(file))))]
}
