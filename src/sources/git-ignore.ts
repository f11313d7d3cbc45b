import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Ignore } from 'ignore'

/** The `.gitignore` of a folder. */
export interface Rules {
  folder: string
  ignore: Ignore
  changedMs: number
}

export interface Ignoring {
  /** As in git: the rules of every folder from the repository down to this one. */
  rulesIn(folder: string): Promise<Rules[]>
  /** The rules that exclude the file, or a folder above it and below the root. */
  excluding(file: string): Promise<Rules | undefined>
}

/** Reads each `.gitignore` once. */
export async function createIgnoring(root: string): Promise<Ignoring> {
  const { default: ignore } = await import('ignore')
  const read = new Map<string, Promise<Rules[]>>()
  const readRules = async (folder: string): Promise<Rules[]> => {
    const path = join(folder, '.gitignore')
    try {
      const [text, { ctimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
      return [{ folder, ignore: ignore().add(text), changedMs: ctimeMs }]
    } catch {
      // Most folders have none.
      return []
    }
  }
  const rulesOf = (folder: string): Promise<Rules[]> => {
    const rules = read.get(folder) ?? readRules(folder)
    read.set(folder, rules)
    return rules
  }
  const top = await repositoryOf(root)
  const rulesIn = async (folder: string): Promise<Rules[]> =>
    (await Promise.all(foldersBetween(top, folder).map(rulesOf))).flat()

  return {
    rulesIn,
    async excluding(file) {
      for (let folder = dirname(file); folder !== root && folder.startsWith(root + sep); folder = dirname(folder)) {
        const rules = excludedBy(folder, true, await rulesIn(dirname(folder)))
        if (rules) return rules
      }
      return excludedBy(file, false, await rulesIn(dirname(file)))
    },
  }
}

/** The last matching rule decides. */
export function excludedBy(path: string, isFolder: boolean, all: readonly Rules[]): Rules | undefined {
  let by: Rules | undefined
  for (const rules of all) {
    const local = relative(rules.folder, path).split(sep).join('/')
    const verdict = rules.ignore.test(isFolder ? `${local}/` : local)
    if (verdict.ignored) by = rules
    else if (verdict.unignored) by = undefined
  }
  return by
}

/** Where `.gitignore` files may be that exclude this folder, or parts of it. */
export async function rulesAbove(folder: string): Promise<string[]> {
  return foldersBetween(await repositoryOf(folder), folder).map((each) => join(each, '.gitignore'))
}

/** The nearest folder upwards that is a git repository, else the folder itself. */
async function repositoryOf(root: string): Promise<string> {
  for (let folder = resolve(root); ; folder = dirname(folder)) {
    if (await stat(join(folder, '.git')).catch(() => undefined)) return folder
    if (folder === dirname(folder)) return resolve(root)
  }
}

function foldersBetween(top: string, bottom: string): string[] {
  const inside = relative(top, bottom)
  if (inside.startsWith('..')) return [bottom]
  const folders = [top]
  for (const part of inside.split(sep).filter((each) => each !== '')) folders.push(join(folders.at(-1) ?? top, part))
  return folders
}
