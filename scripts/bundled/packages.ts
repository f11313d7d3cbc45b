import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export interface BundledPackage {
  /** As the lock file names it: `node_modules/…`. */
  place: string
  folder: string
  name: string
  version: string
  /** An SPDX id or expression. */
  license: string
  author: string | undefined
}

/** The packages that modules of the bundle come from, in the order of their folders. Throws for one without a licence. */
export function bundledPackages(moduleIds: Iterable<string>): BundledPackage[] {
  const folders = new Set<string>()
  for (const id of moduleIds) {
    const folder = packageFolder(id)
    if (folder !== undefined) folders.add(folder)
  }
  return [...folders].sort().map(readPackage)
}

export function readPackage(folder: string): BundledPackage {
  const { name, version, license, author } = manifestOf(folder)
  if (typeof license !== 'string') throw new Error(`${name} does not name its licence`)
  const by = typeof author === 'string' ? author : (author as { name?: string } | undefined)?.name
  const place = relative(join(import.meta.dirname, '../..'), folder)
  return { place, folder, name: String(name), version: String(version), license, author: by }
}

/** The package that the price table was made from; its licence is beside the table. */
export function priceSource(folder: string): BundledPackage {
  const { source, version } = JSON.parse(readFileSync(join(folder, 'prices.json'), 'utf8')) as Record<string, string>
  if (source === undefined || version === undefined) throw new Error('The price table does not say where it is from')
  return { place: `node_modules/${source}`, folder, name: source, version, license: 'MIT', author: undefined }
}

/** A manifest without a name belongs to a folder inside a package. */
function packageFolder(moduleId: string): string | undefined {
  const path = moduleId.replace(/^\0/, '').replace(/\?.*$/, '')
  if (!path.includes('/node_modules/')) return undefined
  for (let folder = dirname(path); folder.includes('/node_modules/'); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) {
      const { name, version } = manifestOf(folder)
      if (name !== undefined && version !== undefined) return folder
    }
  }
  return undefined
}

function manifestOf(folder: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
}
