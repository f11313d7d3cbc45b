import { glob, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Ignore } from 'ignore'

const neverEntered = new Set(['node_modules'])
/** Pictures, sounds, videos and fonts, which lie beside documents and have no words. */
const wordless =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|tiff?|ico|svg|mp[34]|m4[av]|mov|avi|mkv|webm|wav|ogg|flac|woff2?|[ot]tf)$/i

/**
 * The files that paths, folders and globs name, relative to `root` with `/`, each once, in order. In folders and globs
 * dotfiles, `.env*`, `node_modules`, pictures and the like, and what `.gitignore` ignores are left out; a file named as it is
 * always counts. Throws when a plain path is not there.
 */
export async function findSources(root: string, sources: readonly string[]): Promise<string[]> {
  const walk = await createWalk(root)
  const found = new Set<string>()
  for (const source of sources) for (const file of await expand(root, source, walk)) found.add(file)
  return [...found].sort()
}

async function expand(root: string, source: string, walk: Walk): Promise<string[]> {
  const path = resolve(root, source)
  const kind = await stat(path).catch(() => undefined)
  if (kind?.isDirectory()) return walk.folder(path)
  if (kind?.isFile()) return [toSource(root, path)]
  if (!/[*?[{]/.test(source)) throw new Error(`there is no file or folder '${source}'`)
  const files: string[] = []
  for await (const match of glob(source, { cwd: root, exclude: (name) => isHidden(name) })) {
    const file = resolve(root, match)
    if (!(await stat(file).catch(() => undefined))?.isFile()) continue
    if (await walk.admits(file)) files.push(toSource(root, file))
  }
  return files
}

interface Walk {
  folder(path: string): Promise<string[]>
  admits(file: string): Promise<boolean>
}

interface Rules {
  folder: string
  ignore: Ignore
}

async function createWalk(root: string): Promise<Walk> {
  const { default: ignore } = await import('ignore')
  const read = new Map<string, Promise<Rules[]>>()
  /** None where there is no `.gitignore`. */
  const rulesOf = (folder: string): Promise<Rules[]> => {
    const known = read.get(folder)
    if (known) return known
    const rules = readFile(join(folder, '.gitignore'), 'utf8').then(
      (text) => [{ folder, ignore: ignore().add(text) }],
      () => [],
    )
    read.set(folder, rules)
    return rules
  }
  const top = await repositoryOf(root)
  /** As in git: the rules of every folder above what is in this one, from the repository down. */
  const rulesIn = async (folder: string): Promise<Rules[]> =>
    (await Promise.all(foldersBetween(top, folder).map(rulesOf))).flat()

  const walkFolder = async (path: string): Promise<string[]> => {
    const files: string[] = []
    const rules = await rulesIn(path)
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (isHidden(entry.name)) continue
      const child = join(path, entry.name)
      if (isIgnored(child, entry.isDirectory(), rules)) continue
      if (entry.isDirectory()) files.push(...(await walkFolder(child)))
      else if (entry.isFile() && !wordless.test(entry.name)) files.push(toSource(root, child))
    }
    return files
  }

  return {
    folder: walkFolder,
    async admits(file) {
      if (wordless.test(file)) return false
      const parts = relative(root, file).split(sep)
      if (parts.some((part) => part !== '..' && isHidden(part))) return false
      for (let folder = dirname(file); folder !== root && folder.startsWith(root + sep); folder = dirname(folder))
        if (isIgnored(folder, true, await rulesIn(dirname(folder)))) return false
      return !isIgnored(file, false, await rulesIn(dirname(file)))
    },
  }
}

/** The last of the rules that speaks decides. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  let ignored = false
  for (const { folder, ignore } of rules) {
    const local = relative(folder, path).split(sep).join('/')
    const verdict = ignore.test(isFolder ? `${local}/` : local)
    if (verdict.ignored) ignored = true
    else if (verdict.unignored) ignored = false
  }
  return ignored
}

function isHidden(name: string): boolean {
  const last = name.split(/[\\/]/).at(-1) ?? name
  return (last.startsWith('.') && last !== '.' && last !== '..') || neverEntered.has(last)
}

/** The nearest folder upwards that is a git repository, else the root itself. */
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

function toSource(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}
