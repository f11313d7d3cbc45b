import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { gzipAsync } from '@gfx/zopfli'
import { transform } from 'lightningcss'
import { bundledPackages } from '../bundled/packages.ts'
import { thirdPartyLicenses } from '../bundled/third-party.ts'

interface Chunk {
  type: string
  fileName: string
  isEntry?: boolean
  code?: string
  imports?: readonly string[]
  moduleIds?: readonly string[]
  modules?: Readonly<Record<string, { code: string | null }>>
}
interface Output {
  emitFile(file: { type: 'asset'; fileName: string; source: string | Uint8Array }): string
}

/** What the server needs to know of the built studio: the files of the page, and all that it may send. */
export interface StudioManifest {
  script: string
  /** What the script imports at once. */
  imports: string[]
  style: string
  files: string[]
}

/** Of each script, what its modules are when they are gzipped alone, not yet minified: which of them is large, not how large. */
export type ModuleSizes = Record<string, Record<string, number>>

/** A plugin of the build: one style sheet of all in `style/`, and each file as Brotli and gzip alone, with a list of them. */
export function studioAssets(folder: string) {
  return {
    name: 'studio-assets',
    async generateBundle(this: Output, _options: unknown, bundle: Record<string, Chunk>) {
      const style = styleOf(folder)
      const styleName = `studio-${hashOf(style)}.css`
      const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk')
      const entry = chunks.find(({ isEntry }) => isEntry === true)
      if (entry === undefined) throw new Error('the studio has no entry')
      const outside = chunks.flatMap(({ imports = [] }) => imports.filter((name) => !(name in bundle)))
      if (outside.length > 0) throw new Error(`no browser has ${outside.join(', ')}`)
      const files = new Map([[styleName, style], ...chunks.map(({ fileName, code = '' }) => [fileName, code] as const)])
      const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds)
      this.emitFile({
        type: 'asset',
        fileName: 'THIRD-PARTY-LICENSES.txt',
        source: thirdPartyLicenses(bundledPackages(modules)),
      })
      for (const [name, source] of files) {
        this.emitFile({ type: 'asset', fileName: `${name}.br`, source: brotliOf(source) })
        this.emitFile({ type: 'asset', fileName: `${name}.gz`, source: await gzipOf(source) })
      }
      const manifest: StudioManifest = {
        script: entry.fileName,
        imports: importsOf(entry, chunks),
        style: styleName,
        files: [...files.keys()].sort(),
      }
      this.emitFile({ type: 'asset', fileName: 'manifest.json', source: `${JSON.stringify(manifest)}\n` })
      const sizes: ModuleSizes = Object.fromEntries(chunks.map((chunk) => [chunk.fileName, sizesOf(chunk)]))
      this.emitFile({ type: 'asset', fileName: 'modules.json', source: `${JSON.stringify(sizes)}\n` })
      // The server unpacks a file for those who take neither.
      for (const { fileName } of chunks) delete bundle[fileName]
    },
  }
}

function importsOf(chunk: Chunk, chunks: readonly Chunk[], found: string[] = []): string[] {
  for (const name of chunk.imports ?? []) {
    if (found.includes(name)) continue
    found.push(name)
    const imported = chunks.find(({ fileName }) => fileName === name)
    if (imported !== undefined) importsOf(imported, chunks, found)
  }
  return found
}

/** The files in the order of their names. */
function styleOf(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith('.css'))
  const source = names.sort().map((name) => readFileSync(join(folder, name), 'utf8'))
  const { code } = transform({ filename: 'studio.css', code: Buffer.from(source.join('\n')), minify: true })
  return code.toString()
}

function sizesOf({ modules = {} }: Chunk): Record<string, number> {
  const sizes = Object.entries(modules).map(
    ([id, { code }]) => [relative('.', id), gzipSync(code ?? '').length] as const,
  )
  return Object.fromEntries(sizes.sort(([, one], [, other]) => other - one))
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8)
}

function brotliOf(text: string): Uint8Array {
  return brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } })
}

/** Smaller than the gzip of zlib at its best, by some 4 %. */
function gzipOf(text: string): Promise<Uint8Array> {
  return gzipAsync(text, { numiterations: 5 })
}
