import type { ResolvedConfig } from '../../config/types.ts'
import { messageOf } from '../../core/error.ts'
import { modelTroubles } from '../../server/served/model-needs.ts'
import { unusedModels } from '../../server/served/models.ts'

export interface ModelCheck {
  /** Looks in the background whether the models of a config can answer, and which could be used. Ends an earlier check. */
  check(config: ResolvedConfig): void
  close(): Promise<void>
}

/** Prints a line for each model in trouble and each that could be used, unless the check before has printed it. */
export function createModelCheck(print: (text: string, isWarning: boolean) => void): ModelCheck {
  let stop = new AbortController()
  let last = new Set<string>()
  let checking = Promise.resolve()

  async function look(config: ResolvedConfig, signal: AbortSignal): Promise<void> {
    const [troubles, unused] = await Promise.all([modelTroubles(config, { signal }), unusedModels(config, signal)])
    if (signal.aborted) return
    const warnings = troubles.map(
      ({ name, entityIds, problem, fix }) =>
        `the model ${name} of ${entityIds.join(', ')}: ${problem}. To mend it: ${fix}`,
    )
    const rows = unused.map(({ evidence, install, write }) => {
      const first = install === undefined ? '' : `${install}, and `
      return `${evidence}; to use it, ${first}write ${write}`
    })
    for (const text of warnings) if (!last.has(text)) print(text, true)
    for (const text of rows) if (!last.has(text)) print(text, false)
    last = new Set([...warnings, ...rows])
  }

  return {
    check(config) {
      stop.abort()
      stop = new AbortController()
      const { signal } = stop
      const before = checking
      checking = (async () => {
        await before
        await look(config, signal).catch((error: unknown) => {
          if (!signal.aborted) print(`the models could not be checked: ${messageOf(error)}`, true)
        })
      })()
    },
    async close() {
      stop.abort()
      await checking
    },
  }
}
