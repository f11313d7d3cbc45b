import { relative } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import type { ConfigWatch } from '../config/watch.ts'
import type { OpenServer } from '../server.ts'
import { describeError } from './exit.ts'
import { say } from './output.ts'
import type { Project } from './project.ts'

/** Reloads the server when a file of the config changes. A config that does not load leaves the last good one serving. */
export async function watchProject(
  project: Project,
  server: OpenServer,
  load: () => Promise<Project>,
): Promise<ConfigWatch> {
  const { watchConfig } = await import('../config/watch.ts')
  let last = project
  const watch = await watchConfig({
    files: project.files,
    onError: (error) => say(describeError(error)),
    async onChange(changed) {
      const startedMs = performance.now()
      try {
        const next = await load()
        await server.reload(next.config)
        watch.update(next.files)
        const names = changed.map((file) => relative(process.cwd(), file)).join(', ')
        say(`Reloaded after ${names} in ${Math.round(performance.now() - startedMs)} ms.${restartNote(last, next)}`)
        last = next
      } catch (error) {
        if (error instanceof ConfigError) watch.update([...new Set([...last.files, ...error.files])])
        say(`${describeError(error)}\nStill serving the last good config.`)
      }
    },
  })
  return watch
}

/** What is decided once, when the server is made. */
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
  return settings(last) === settings(next) ? '' : ' What changed under `server` takes effect after a restart.'
}
