import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { StudioManifest } from '../../scripts/studio/plugin.ts'
import { thisBuild } from '../start-up.ts'

/** In KB. */
export interface Sizes {
  /** Gzip and Brotli, as the server sends them: of what is loaded first, and of everything. */
  first: number[]
  whole: number[]
  /** Both of everything, which is what the package has. */
  packaged: number
}

export async function sizes(): Promise<Sizes> {
  const folder = join(thisBuild, 'dist/web/studio')
  const { files, script, style } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as StudioManifest
  const sizeOf = (names: string[]) =>
    Promise.all(
      ['gz', 'br'].map(async (coding) => {
        const all = await Promise.all(names.map((name) => stat(join(folder, `${name}.${coding}`))))
        return all.reduce((sum, { size }) => sum + size, 0) / 1024
      }),
    )
  const whole = await sizeOf(files)
  return { first: await sizeOf([script, style]), whole, packaged: whole.reduce((sum, size) => sum + size, 0) }
}
