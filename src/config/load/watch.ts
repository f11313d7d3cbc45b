import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { FSWatcher } from 'chokidar'

export interface ConfigWatch {
  /** Replaces the watched files, which need not exist; `readAtMs` as in the options. */
  update(files: readonly string[], readAtMs: number): void
  /** Watches one more file; reports it at once if it has changed since the last `readAtMs`. */
  add(file: string): void
  close(): Promise<void>
}

export interface ConfigWatchOptions {
  files: readonly string[]
  /** When the files were read, in milliseconds since the epoch: later changes are reported at once. */
  readAtMs: number
  /** Called after a short pause in changes; never while an earlier call is running. */
  onChange: (changed: readonly string[]) => Promise<void>
  onError: (error: unknown) => void
}

/** An editor empties a file before writing it; several files are saved together. */
const quietMs = 20
/** File timestamps lag behind by some milliseconds. */
const clockSlackMs = 10

/** Resolves when the watch is active; no change since `readAtMs` is missed. */
export async function watchConfig(options: ConfigWatchOptions): Promise<ConfigWatch> {
  const { watch } = await import('chokidar')
  // Folders, not files: an editor that replaces a file would end a watch of the file.
  const watcher: FSWatcher = watch(foldersOf(options.files), { ignoreInitial: true, depth: 0 })
  let watched = new Set(options.files)
  let touched = new Set<string>()
  let { readAtMs } = options
  /** The last reported state of each file: the system reports a change several times. */
  const seen = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let work = Promise.resolve()

  const fire = () => {
    timer = undefined
    work = work
      .then(async () => {
        const candidates = [...touched]
        touched = new Set()
        const changed: string[] = []
        for (const path of candidates) {
          const state = await stateOf(path)
          if (seen.get(path) === state) continue
          seen.set(path, state)
          changed.push(path)
        }
        if (changed.length > 0) await options.onChange(changed)
      })
      .catch(options.onError)
  }
  const touch = (path: string) => {
    if (!watched.has(path)) return
    touched.add(path)
    clearTimeout(timer)
    timer = setTimeout(fire, quietMs)
  }
  watcher.on('all', (_event, path) => touch(path))
  // Raw events: chokidar itself delays them and hides a second change within 50 ms.
  watcher.on('raw', (_event, name, details) => {
    const { watchedPath } = (details ?? {}) as { watchedPath?: string }
    if (watchedPath === undefined) return
    touch(watchedPath)
    if (name) touch(join(watchedPath, name))
  })
  watcher.on('error', options.onError)
  await new Promise<void>((done) => watcher.once('ready', () => done()))
  /** Events before the watch are lost, so modification times are compared. */
  const lookAt = async (file: string) => {
    const found = await stat(file).catch(() => undefined)
    if (found !== undefined && found.mtimeMs > readAtMs - clockSlackMs) touch(file)
  }
  for (const file of options.files) await lookAt(file)

  return {
    update(files, nextReadAtMs) {
      const earlier = new Set(foldersOf([...watched]))
      const added = files.filter((file) => !watched.has(file))
      watched = new Set(files)
      readAtMs = nextReadAtMs
      const folders = new Set(foldersOf(files))
      watcher.unwatch([...earlier].filter((folder) => !folders.has(folder)))
      watcher.add([...folders].filter((folder) => !earlier.has(folder)))
      for (const file of added) void lookAt(file)
    },
    add(file) {
      watched.add(file)
      watcher.add(dirname(file))
      void lookAt(file)
    },
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await work
    },
  }
}

async function stateOf(path: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path)
    return [mtimeMs, ctimeMs, size, ino].join()
  } catch {
    return 'gone'
  }
}

function foldersOf(files: readonly string[]): string[] {
  return [...new Set(files.map((file) => dirname(resolve(file))))]
}
