import { glob, lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { Ignore } from 'ignore'

const neverEntered = new Set(['node_modules'])
/** Images, audio, video and fonts: they lie beside documents and have no text. */
const wordless =
  /\.(?:png|jpe?g|gif|webp|avif|bmp|tiff?|ico|svg|mp[34]|m4[av]|mov|avi|mkv|webm|wav|ogg|flac|woff2?|[ot]tf)$/i

/** Called for everything that is left out. */
export interface SourceNotes {
  /** A link out of the folder of its source. */
  skipped?(source: string, reason: string): void
  /** A plain path that does not exist; without this it is thrown. */
  missing?(source: string): void
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
 * out dotfiles, `.env*`, `node_modules`, images and the like, and files that `.gitignore` ignores; a file that is named
 * itself is always included. A link is included when it leads to a file below the folder of its source that is not
 * found otherwise. Throws when a plain path does not exist.
 */
export async function findSources(
  root: string,
  sources: readonly string[],
  notes: SourceNotes = {},
): Promise<string[]> {
  const walk = await createWalk(root)
  const found: FoundFile[] = []
  for (const source of sources) for (const file of await expand(root, source, walk, notes)) found.push(file)
  const plain = new Set(found.filter(({ isLink }) => !isLink).map(({ path }) => path))
  return [
    ...new Set(found.filter(({ isLink, path }) => !isLink || !plain.has(path)).map(({ source }) => source)),
  ].sort()
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

interface Rules {
  folder: string
  ignore: Ignore
}

async function createWalk(root: string): Promise<Walk> {
  const { default: ignore } = await import('ignore')
  const read = new Map<string, Promise<Rules[]>>()
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
  /** As in git: the rules of every folder from the repository down to this one. */
  const rulesIn = async (folder: string): Promise<Rules[]> =>
    (await Promise.all(foldersBetween(top, folder).map(rulesOf))).flat()

  const walkFolder = async (path: string, within: Boundary): Promise<FoundFile[]> => {
    const files: FoundFile[] = []
    const rules = await rulesIn(path)
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (isHidden(entry.name)) continue
      const child = join(path, entry.name)
      if (isIgnored(child, entry.isDirectory(), rules)) continue
      if (entry.isDirectory()) files.push(...(await walkFolder(child, within)))
      else if (wordless.test(entry.name)) continue
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
      if (wordless.test(file)) return false
      const parts = relative(root, file).split(sep)
      if (parts.some((part) => part !== '..' && isHidden(part))) return false
      for (let folder = dirname(file); folder !== root && folder.startsWith(root + sep); folder = dirname(folder))
        if (isIgnored(folder, true, await rulesIn(dirname(folder)))) return false
      return !isIgnored(file, false, await rulesIn(dirname(file)))
    },
  }
  return walk
}

/** The last matching rule decides. */
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

export function toSource(root: string, path: string): string {
  return relative(root, path).split(sep).join('/')
}
