import { readdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { globBase, toSource } from './find.ts'

/** Whether a source is in the folder, both relative to the same root. */
export function isBelow(folder: string, source: string): boolean {
  if (folder !== '') return source.startsWith(`${folder}/`)
  return !/^(?:\.\.\/|\/|[a-z][a-z0-9+.-]*:)/i.test(source)
}

/**
 * Those of the folders that these paths and globs name, and of the folders that hold them, which are not there or hold
 * nothing: the disk that they are on may not be there either.
 */
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
