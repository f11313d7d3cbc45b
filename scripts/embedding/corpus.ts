import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { readArchive } from './archives.ts'
import type { Document, Section } from './markup.ts'
import {
  sectionsOf,
  sectionsOfBrowserSupport,
  sectionsOfOpenApi,
  sectionsOfService,
  sectionsOfWordNet,
} from './sections.ts'
import type { Source } from './sources.ts'

/** The projects that the table is measured with: no section that names one may teach it. */
const heldOut =
  /\b(restic|borg|borgbackup|borgmatic|attic backup|syncthing|golang|gofmt|goroutines?|go (modules?|programming|language|toolchain|packages?|get|install|build|test|vet|fmt))\b/i
/** Indexes, changes, licences, and texts in other languages. */
const unhelpful =
  /(^|\/)(_modules|_sources|_static|genindex[^/]*|search|py-modindex|changelogs?|changes|history|release[-_]?notes?|releases|whatsnew|news|contributors|authors|licen[sc]e|copyright|code_of_conduct|security)(\.html|\.md|\.txt|\.rst|\.gz|\/|$)|\/(zh|zh[-_]\w+|ja|fr|es|pt|pt[-_]\w+|de|ko|ru|it|tr|uk|pl|vi|ar|id|hi|bn)\/|\.(zh|ja|fr|es|pt|de|ko|ru|it|tr|zh-CN|zh_CN|pt-br|ja-JP)\.md/i
/** A file that names such a licence may be under it, whatever its package says. */
const copyleft =
  /GNU (Library |Lesser |Affero )?(General Public|Free Documentation) Licen[cs]e|Attribution[- ]Share-?Alike|\bCC[- ]BY(-NC)?-SA\b|\b(A?GPL|LGPL|GFDL|FDL)[- ]?v?[123]/i
const maxFiles = 6_000
const maxCharacters = 14_000_000
const maxCharactersOfServices = 28_000_000
const maxCharactersOfSection = 6_000

export async function readSource(source: Source, archive: string): Promise<Document[]> {
  const seen = new Set<string>()
  const kept: Document[] = []
  let characters = 0
  const limit = source.kind === 'services' ? maxCharactersOfServices : maxCharacters
  for (const { title, description, sections } of await documentsOf(source, archive)) {
    if (characters > limit) break
    const own: Section[] = []
    for (const section of sections) {
      if (!isUseful(section.text, source.kind === 'wordnet' ? 25 : 80)) continue
      const text = section.text.slice(0, maxCharactersOfSection)
      const key = createHash('md5')
        .update(section.text.slice(0, 700).replace(/[\W\d]+/g, ''))
        .digest('base64')
      if (seen.has(key) || section.path.some((heading) => heldOut.test(heading))) continue
      seen.add(key)
      characters += text.length
      own.push({ path: section.path, text })
    }
    if (own.length > 0) kept.push({ title, description, sections: own })
  }
  return kept
}

function isUseful(text: string, minLength: number): boolean {
  if (text.length < minLength || heldOut.test(text)) return false
  const start = text.slice(0, 600)
  let foreign = 0
  for (let at = 0; at < start.length; at++) if (start.charCodeAt(at) > 127) foreign++
  return foreign <= 0.08 * start.length
}

async function documentsOf(source: Source, archive: string): Promise<Document[]> {
  const read = async (pattern: RegExp) => {
    const files = await readArchive(archive, (path) => pattern.test(path), 50_000_000)
    return files.map(({ path, bytes }) => textOf(path, bytes))
  }
  if (source.kind === 'wordnet') {
    const texts = await read(/\/dict\/data\.(noun|verb|adj|adv)$/)
    return [sectionsOfWordNet(texts)]
  }
  if (source.kind === 'services')
    return (await read(/\/botocore\/data\/.*\/service-2\.json(\.gz)?$/)).map(sectionsOfService)
  if (source.kind === 'openapi') return (await read(/\/generated\/api\.github\.com\.json$/)).map(sectionsOfOpenApi)
  if (source.kind === 'browsers') return (await read(/^package\/data\.json$/)).map(sectionsOfBrowserSupport)
  const usual =
    source.kind === 'deb' ? /\.(x?html?|md|mdx|rst|markdown)(\.gz)?$|\/man\/man\d\/.*\.gz$/i : /\.(md|mdx|markdown)$/i
  const include = source.include === undefined ? usual : new RegExp(source.include, 'i')
  const exclude = source.exclude === undefined ? undefined : new RegExp(source.exclude)
  const wanted = (path: string) =>
    !unhelpful.test(`/${path}`) && include.test(path) && !exclude?.test(path) && !/\/node_modules\//.test(path)
  const files = await readArchive(archive, wanted)
  return files.slice(0, maxFiles).flatMap(({ path, bytes }) => {
    const text = textOf(path, bytes)
    return copyleft.test(text) ? [] : [sectionsOf(path, text)]
  })
}

function textOf(path: string, bytes: Buffer): string {
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
}
