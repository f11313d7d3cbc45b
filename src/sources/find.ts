import { glob, lstat, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { createIgnoring, excludedBy } from './git-ignore.ts'
import { isGenerated, isWordless } from './left-out.ts'

const neverEntered = new Set(['node_modules'])

/** Called for what is left out although it has text. */
export interface SourceNotes {
  /** A link out of the folder of its source. */
  skipped?(source: string, reason: string): void
  /** A plain path that does not exist; without this it is thrown. */
  missing?(source: string): void
  /** A lock file and the like: see `isGenerated`. */
  generated?(source: string): void
}

/** A found file, and its real path when a link leads there. */
interface FoundFile {
  source: string
  path: string
  isLink: boolean
}

const leadsOut = 'it is a link that leads out of the folder; name what it leads to'

/**
 * The files that paths, folders and globs name, relative to `root` with `/`, sorted and unique. Folders and globs leave
 * out dotfiles, `.env*`, `node_modules`, images and the like, lock files and the like, and files that `.gitignore`
 * ignores; a file that is named itself is always included. A link is included when it leads to a file below the folder of its source that is not
 * found otherwise. Throws when a plain path does not exist.
 */
export async function findSources(
  root: string,
  sources: readonly string[],
  notes: SourceNotes = {},
): Promise<string[]> {
  const generated = new Set<string>()
  const walk = await createWalk(root, generated)
  const found: FoundFile[] = []
  for (const source of sources) for (const file of await expand(root, source, walk, notes)) found.push(file)
  const plain = new Set(found.filter(({ isLink }) => !isLink).map(({ path }) => path))
  const files = found.filter(({ isLink, path }) => !isLink || !plain.has(path)).map(({ source }) => source)
  for (const source of generated) if (!files.includes(source)) notes.generated?.(source)
  return [...new Set(files)].sort()
}

async function expand(root: string, source: string, walk: Walk, notes: SourceNotes): Promise<FoundFile[]> {
  const path = resolve(root, source)
  const kind = await stat(path).catch(() => undefined)
  if (kind?.isDirectory()) return walk.folder(path, await boundary(root, path, notes))
  if (kind?.isFile()) {
    const real = await realpath(path)
    const file = { source: toSource(root, path), path: real, isLink: false }
    if (isInside(await realpath(dirname(path)), real)) return [file]
    notes.skipped?.(file.source, leadsOut)
    return []
  }
  const base = globBase(source)
  if (base === undefined) {
    if (notes.missing === undefined) throw new Error(`there is no file or folder '${source}'`)
    notes.missing(source)
    return []
  }
  const folder = resolve(root, base)
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) return []
  const within = await boundary(root, folder, notes)
  const files: FoundFile[] = []
  for await (const match of glob(source, { cwd: root, exclude: (name) => isHidden(name) })) {
    const file = resolve(root, match)
    if (!(await stat(file).catch(() => undefined))?.isFile() || !(await walk.admits(file))) continue
    files.push(...(await within.checked(file, walk)))
  }
  return files
}

/** The folder above a glob's first wildcard; undefined without a wildcard. */
export function globBase(source: string): string | undefined {
  const at = source.search(/[*?[{]/)
  return at === -1 ? undefined : source.slice(0, source.lastIndexOf('/', at) + 1) || '.'
}

export function isInside(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

interface Boundary {
  plain(file: string): FoundFile
  /** Empty when its real path is elsewhere. */
  checked(file: string, walk: Walk): Promise<FoundFile[]>
}

/** Passes only files whose real path is below the folder. */
async function boundary(root: string, folder: string, notes: SourceNotes): Promise<Boundary> {
  const top = await realpath(folder)
  const realFolders = new Map<string, Promise<string>>()
  const realFolder = (path: string) => {
    const known = realFolders.get(path) ?? realpath(path)
    realFolders.set(path, known)
    return known
  }
  const plain = (file: string) => ({
    source: toSource(root, file),
    path: top + file.slice(folder.length),
    isLink: false,
  })
  const checked = async (file: string, walk: Walk) => {
    const { source, path: own } = plain(file)
    const isLink = (await lstat(file)).isSymbolicLink()
    const path = isLink ? await realpath(file) : join(await realFolder(dirname(file)), basename(file))
    if (!isInside(top, path)) notes.skipped?.(source, leadsOut)
    else if (path === own || (await walk.admits(join(folder, relative(top, path)))))
      return [{ source, path, isLink: path !== own }]
    return []
  }
  return { plain, checked }
}

interface Walk {
  folder(path: string, within: Boundary): Promise<FoundFile[]>
  admits(file: string): Promise<boolean>
}

async function createWalk(root: string, generated: Set<string>): Promise<Walk> {
  const ignoring = await createIgnoring(root)
  const isUseless = (file: string) => {
    if (isWordless(file)) return true
    const source = toSource(root, file)
    if (!isGenerated(source)) return false
    generated.add(source)
    return true
  }

  const walkFolder = async (path: string, within: Boundary): Promise<FoundFile[]> => {
    const files: FoundFile[] = []
    const rules = await ignoring.rulesIn(path)
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (isHidden(entry.name)) continue
      const child = join(path, entry.name)
      if (excludedBy(child, entry.isDirectory(), rules)) continue
      if (entry.isDirectory()) files.push(...(await walkFolder(child, within)))
      else if (isUseless(child)) continue
      else if (entry.isFile()) files.push(within.plain(child))
      else if (entry.isSymbolicLink()) files.push(...(await followed(child, within)))
    }
    return files
  }
  /** A link to a folder is not followed: inside this folder its files are found anyway, and links may be cyclic. */
  const followed = async (link: string, within: Boundary): Promise<FoundFile[]> => {
    const kind = await stat(link).catch(() => undefined)
    if (kind === undefined) return []
    const found = await within.checked(link, walk)
    return kind.isFile() ? found : []
  }

  const walk: Walk = {
    folder: walkFolder,
    async admits(file) {
      const parts = relative(root, file).split(sep)
      if (parts.some((part) => part !== '..' && isHidden(part))) return false
      if (await ignoring.excluding(file)) return false
      return !isUseless(file)
    },
  }
  return walk
}

function isHidden(name: string): boolean {
  const last = name.split(/[\\/]/).at(-1) ?? name
  return (last.startsWith('.') && last !== '.' && last !== '..') || neverEntered.has(last)
}

export function toSource(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}
