import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Asked } from './layouts.ts'
import { questions } from './questions.ts'
import { ai } from './sets/ai.ts'
import { pino } from './sets/pino.ts'
import { undici } from './sets/undici.ts'

export interface QuestionSet {
  name: string
  /** Settings are chosen by the sets to tune on; the others say what they are worth. */
  use: 'tune' | 'report'
  /** Where the texts come from, and their licence. */
  from: string
  asked: readonly Asked[]
  /** The documents, by their path below the folder. */
  texts(): Promise<Map<string, string>>
}

const root = join(import.meta.dirname, '..', '..')

export const questionSets: readonly QuestionSet[] = [
  {
    name: 'agentserve',
    use: 'tune',
    from: 'this repository, MIT',
    asked: ownQuestions((source) => source.startsWith('docs/')),
    texts: () => read('.', ['docs/**/*.md', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']),
  },
  {
    name: 'undici',
    use: 'tune',
    from: 'docs of the npm package undici, MIT',
    asked: undici,
    texts: () => read('node_modules/undici/docs/docs', ['**/*.md']),
  },
  {
    name: 'handbooks',
    use: 'report',
    from: 'written for this repository, MIT',
    asked: ownQuestions((source) => !source.startsWith('docs/')),
    texts: () => read('.', ['bench/retrieval/corpus/*.md', 'test/fixtures/docs/**/*.md']),
  },
  {
    name: 'pino',
    use: 'report',
    from: 'docs of the npm package pino, MIT',
    asked: pino,
    texts: () => read('node_modules/pino/docs', ['*.md']),
  },
  {
    name: 'ai',
    use: 'report',
    from: 'docs of the npm package ai, Apache-2.0',
    asked: ai,
    texts: async () =>
      new Map([
        ...(await read('node_modules/ai/docs', ['03-a*/*.mdx', '04-ai-sdk-ui/*.mdx', '09-troubleshooting/*.mdx'])),
        ...(await read('node_modules/ai', ['CHANGELOG.md'])),
      ]),
  },
]

function ownQuestions(isOf: (source: string) => boolean): Asked[] {
  return questions.flatMap(([kind, question, source = '', answer = '']): Asked[] =>
    kind !== 'none' && isOf(source) ? [[question, source, answer]] : [],
  )
}

async function read(folder: string, patterns: readonly string[]): Promise<Map<string, string>> {
  const cwd = join(root, folder)
  const sources = new Set<string>()
  for (const pattern of patterns) for await (const source of glob(pattern, { cwd })) sources.add(source)
  const texts = new Map<string, string>()
  for (const source of [...sources].sort()) texts.set(source, await readFile(join(cwd, source), 'utf8'))
  return texts
}
