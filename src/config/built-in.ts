import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigParts } from './parts.ts'
import type { UserConfig } from './types.ts'

/** The entities without a config file: `docs` over ./docs and the README, if they exist, and `echo`. */
export function builtInConfig(parts: Pick<ConfigParts, 'agent'>, root: string): UserConfig {
  return {
    knowledge: { sources: ['docs', 'README.md'].filter((source) => existsSync(join(root, source))) },
    agents: {
      docs: parts.agent({
        description: 'Answers from ./docs and the README.',
        instructions: 'Answer from the passages and cite them.',
        knowledge: { limit: 6, mode: 'first' },
      }),
      echo: parts.agent({ description: 'Repeats what it was told.', sideEffects: false, run: sayAgain }),
    },
  }
}

async function* sayAgain({ text }: { text: string }): AsyncIterable<string> {
  yield* text.split(/(?<=\s)/)
}
