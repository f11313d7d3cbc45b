import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import type { ConfigParts } from './parts.ts'
import type { UserConfig } from './types.ts'

const docs = 'docs'
const readme = /^readme\.(?:mdx?|txt)$/i
const mostFiles = 200
const mostBytes = 20 * 1024 * 1024

/**
 * The entities without a config file: `docs` over ./docs and the README, or else over the documents directly in the folder, and
 * `echo`.
 */
function builtInConfig(parts: Pick<ConfigParts, 'agent'>, root: string): UserConfig {
  const sources = builtInSources(root)
  const description = sources.every(isUsual)
    ? 'Answers from ./docs and the README.'
    : 'Answers from the files in this folder.'
  return {
    knowledge: { sources },
    agents: {
      docs: parts.agent({
        description,
        instructions: 'Answer from the passages and cite them.',
        knowledge: { limit: 6, mode: 'first' },
      }),
      echo: parts.agent({ description: 'Repeats what it was told.', sideEffects: false, run: sayAgain }),
    },
  }
}

/** The user's config; where it lists no agents, teams and workflows at all, with the built-in ones. */
export function withBuiltIn(user: UserConfig | undefined, parts: Pick<ConfigParts, 'agent'>, root: string): UserConfig {
  if (user === undefined) return builtInConfig(parts, root)
  if ([user.agents, user.teams, user.workflows].some((entities) => entities !== undefined)) return user
  const { agents, knowledge } = builtInConfig(parts, root)
  return { ...user, agents, knowledge: user.knowledge ?? knowledge }
}

/** Files and folders that the built-in config reads. */
export function builtInSources(root: string): string[] {
  const readmes = filesIn(root).filter((entry) => entry.isFile() && readme.test(entry.name))
  const usual = [...(existsSync(join(root, docs)) ? [docs] : []), ...readmes.map(({ name }) => name).sort()]
  return usual.length > 0 || isTooWide(root) ? usual : documentsIn(root)
}

/**
 * Documents directly in the folder that the built-in config leaves out, as there is a README or ./docs, and the sources that
 * have them too; undefined when there are none.
 */
export function unreadDocuments(root: string): { count: number; sources: readonly string[] } | undefined {
  if (isTooWide(root)) return undefined
  const read = new Set(builtInSources(root))
  const names = documentsIn(root).filter((name) => !read.has(name))
  if (names.length === 0) return undefined
  const kinds = [...new Set(names.map((name) => extname(name).slice(1)))]
  const pattern = kinds.length === 1 ? `*.${kinds[0]}` : `*.{${kinds.join(',')}}`
  const others = [...read].filter((source) => !kinds.includes(extname(source).slice(1)))
  return { count: names.length, sources: [...others, pattern] }
}

function isUsual(source: string): boolean {
  return source === docs || readme.test(source)
}

/** What lies in a home folder or at the top of a disk belongs to no project. */
export function isTooWide(root: string): boolean {
  const folder = realFolder(root)
  return folder === dirname(folder) || folder === realFolder(homedir())
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    // It may be gone; where a folder is read, that is told.
    return resolve(folder)
  }
}

/** Not below the folder, and the first by name when there are too many. */
function documentsIn(root: string): string[] {
  const names = filesIn(root)
    .flatMap((entry) => (entry.isFile() && /^[^.].*\.(?:mdx?|txt)$/i.test(entry.name) ? [entry.name] : []))
    .sort()
  const taken: string[] = []
  let bytes = 0
  for (const name of names.slice(0, mostFiles)) {
    bytes += statSync(join(root, name), { throwIfNoEntry: false })?.size ?? 0
    if (bytes > mostBytes) break
    taken.push(name)
  }
  return taken
}

function filesIn(root: string): Dirent[] {
  try {
    return readdirSync(root, { withFileTypes: true })
  } catch {
    // Whether it can be read is told where it is used.
    return []
  }
}

async function* sayAgain({ text }: { text: string }): AsyncIterable<string> {
  yield* text.split(/(?<=\s)/)
}
