import { readdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { globBase, toSource } from './find.ts'

/** Both are relative to the same root. */
export function isBelow(folder: string, source: string): boolean {
  if (folder !== '') return source.startsWith(`${folder}/`)
  return !/^(?:\.\.\/|\/|[a-z][a-z0-9+.-]*:)/i.test(source)
}

/** The folders of these paths and globs, and their parents, that are missing or empty: their disk may be unmounted. */
export async function unreachable(root: string, places: readonly string[]): Promise<string[]> {
  const named = places.map((place) => resolve(root, globBase(place) ?? place))
  const found: string[] = []
  for (const folder of new Set(named.flatMap((each) => [each, dirname(each)]))) {
    const isEmpty = await readdir(folder).then(
      (entries) => entries.length === 0,
      (error: NodeJS.ErrnoException) => error.code !== 'ENOTDIR',
    )
    if (isEmpty) found.push(toSource(root, folder))
  }
  return found
}
