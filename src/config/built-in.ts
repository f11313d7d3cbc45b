import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigParts } from './parts.ts'
import { defaults } from './settings/defaults.ts'
import type { UserConfig } from './types.ts'

/** What is served when there is no config file: `docs` over ./docs and the README, as far as they exist, and `echo`. */
export function builtInConfig(parts: Pick<ConfigParts, 'agent'>, root: string): UserConfig {
  const { docs, echo, sources, requestTimeout } = defaults.builtIn
  return {
    knowledge: { sources: sources.filter((source) => existsSync(join(root, source))) },
    agents: {
      docs: parts.agent({ ...docs }),
      echo: parts.agent({ ...echo, run: sayAgain }),
    },
    server: { requestTimeout },
  }
}

async function* sayAgain({ text }: { text: string }): AsyncIterable<string> {
  yield* text.split(/(?<=\s)/)
}
