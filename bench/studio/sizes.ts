import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { StudioManifest } from '../../scripts/studio/plugin.ts'
import { thisBuild } from '../start-up.ts'

/** In KB. */
export interface Sizes {
  /** Gzip and Brotli: of what is loaded first, and of everything. */
  first: number[]
  whole: number[]
  /** As they are in the package, and what lies beside them compressed. */
  unpacked: number
  compressed: number
}

export async function sizes(): Promise<Sizes> {
  const folder = join(thisBuild, 'dist/web/studio')
  const { files, script, style } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as StudioManifest
  const read = (names: string[]) => Promise.all(names.map((name) => readFile(join(folder, name))))
  const sum = (contents: Buffer[], pack: (content: Buffer) => Buffer) =>
    contents.reduce((all, content) => all + pack(content).length, 0) / 1024
  const sizeOf = async (names: string[]) => {
    const contents = await read(names)
    return [
      sum(contents, (content) => gzipSync(content, { level: 9 })),
      sum(contents, (content) => brotliCompressSync(content)),
    ]
  }
  return {
    first: await sizeOf([script, style]),
    whole: await sizeOf(files),
    unpacked: sum(await read(files), (content) => content),
    compressed: sum(await read(files.map((name) => `${name}.br`)), (content) => content),
  }
}
