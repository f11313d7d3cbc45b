import { resolve } from 'node:path'

const quietMs = 200
const ignored = /(?:^|[\\/])(?:\.[^\\/]+|node_modules)$/

export interface WatchPaths {
  root: string
  /** Files, folders and globs. */
  paths: readonly string[]
  /** Called when changes have been quiet for a moment; never while an earlier call is at work. */
  onChange(): unknown
  onError(error: unknown): void
}

/** Resolves when changes are seen. */
export async function watchPaths({ root, paths, onChange, onError }: WatchPaths): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar')
  const places = paths.map((path) => resolve(root, baseOf(path)))
  const watcher = watch(places, { ignoreInitial: true, ignored })
  let work: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const touch = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      work = work.then(onChange).catch(onError)
    }, quietMs)
  }
  watcher.on('all', touch)
  // What the system says too: chokidar takes no notice of what happens in a folder while it reads it.
  watcher.on('raw', (_event, name) => {
    if (!name || !ignored.test(name)) touch()
  })
  watcher.on('error', onError)
  await new Promise<void>((done) => watcher.once('ready', () => done()))
  return {
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await work
    },
  }
}

/** The folder above the first wildcard of a glob. */
function baseOf(path: string): string {
  const at = path.search(/[*?[{]/)
  return at === -1 ? path : path.slice(0, path.lastIndexOf('/', at) + 1) || '.'
}
