import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createSerial } from '../../runtime/serial.ts'
import { globBase, isInside } from '../../sources/find.ts'
import { rulesAbove } from '../../sources/git-ignore.ts'

const quietMs = 200
const ignored = /(?:^|[\\/])(?:\.(?!gitignore$)[^\\/]+|node_modules)$/

export interface WatchPaths {
  root: string
  /** Files, folders and globs. */
  paths: readonly string[]
  /** Called after changes have settled; never while an earlier call is active. */
  onChange(): unknown
  onError(error: unknown): void
}

const isWithin = (place: string, path: string) => path === place || isInside(place, path)

/** Resolves when the watcher is ready. */
export async function watchPaths({ root, paths, onChange, onError }: WatchPaths): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar')
  const named = paths.map((path) => resolve(root, globBase(path) ?? path))
  // Links inside the folders are not followed, as in ingestion; a watched path may itself be a link.
  const places = await Promise.all(named.map((place) => realpath(place).catch(() => place)))
  const rules = (await Promise.all(named.map((place) => rulesAbove(place)))).flat()
  const watcher = watch([...new Set([...places, ...rules])], { ignoreInitial: true, ignored, followSymlinks: false })
  const calls = createSerial()
  let timer: NodeJS.Timeout | undefined
  const touch = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      calls.run(onChange).catch(onError)
    }, quietMs)
  }
  watcher.on('all', touch)
  // Raw events too: chokidar misses changes in a folder while it reads it.
  watcher.on('raw', (_event, name, details) => {
    const { watchedPath } = details as { watchedPath?: unknown }
    const isOfRules = typeof watchedPath === 'string' && !places.some((place) => isWithin(place, watchedPath))
    if (isOfRules ? name === '.gitignore' : !name || !ignored.test(name)) touch()
  })
  watcher.on('error', onError)
  await new Promise<void>((done) => watcher.once('ready', () => done()))
  return {
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await calls.idle()
    },
  }
}
