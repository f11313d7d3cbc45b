import { resolve } from 'node:path'
import { describeError } from './exit.ts'
import { say } from './output.ts'

const quietMs = 200

export interface WatchPaths {
  root: string
  paths: readonly string[]
  signal: AbortSignal
  /** Never called while an earlier call is at work. */
  onChange(): Promise<unknown>
}

/** Calls when files under the paths have changed and been quiet for a moment, until the signal comes. */
export async function watchPaths({ root, paths, signal, onChange }: WatchPaths): Promise<void> {
  const { watch } = await import('chokidar')
  const places = paths
    .filter((path) => path !== '-' && !/^https?:/i.test(path))
    .map((path) => resolve(root, base(path)))
  const watcher = watch(places, { ignoreInitial: true, ignored: /(?:^|[\\/])(?:\.[^\\/]+|node_modules)$/ })
  let work = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      work = work
        .then(async () => void (await onChange()))
        .catch((error: unknown) => {
          if (!signal.aborted) say(describeError(error))
        })
    }, quietMs)
  })
  say(`Watching ${paths.join(', ')} …`)
  await new Promise<void>((done) => {
    if (signal.aborted) return done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
  clearTimeout(timer)
  await watcher.close()
  await work
}

/** The folder above the first wildcard of a glob. */
function base(path: string): string {
  const at = path.search(/[*?[{]/)
  return at === -1 ? path : path.slice(0, path.lastIndexOf('/', at) + 1) || '.'
}
