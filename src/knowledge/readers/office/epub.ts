import { posix } from 'node:path'
import { htmlText } from '../markup/html.ts'
import { assertLength, Unreadable } from '../markup/unreadable.ts'
import { elements, find, findAll, parseXml, textIn, type XmlNode } from '../markup/xml.ts'
import type { Found } from '../reader.ts'
import { about, oneLine } from './parts.ts'
import type { Archive } from './zip.ts'

const maxChapters = 5_000

interface Item {
  path: string
  type: string
  properties: string[]
}

/** The chapters in the order of reading, as Markdown. One without a heading gets its title from the contents. */
export async function readEpub(archive: Archive): Promise<Found> {
  const node = (path: string) => {
    const xml = archive.text(path)
    return xml === undefined ? undefined : parseXml(xml)
  }
  const packagePath = find(node('META-INF/container.xml'), 'rootfile')?.attributes['full-path'] ?? ''
  const book = node(packagePath)
  if (book === undefined) throw new Unreadable('it does not say what its chapters are')
  const items = itemsOf(book, packagePath)
  const spine = findAll(book, 'itemref').flatMap(({ attributes }) => items.get(attributes.idref ?? '') ?? [])
  if (spine.length > maxChapters) throw new Unreadable(`it has more than ${maxChapters} chapters`)
  const protectedPaths = new Set(
    findAll(node('META-INF/encryption.xml'), 'CipherReference').map(({ attributes }) =>
      pathOf('', attributes.URI ?? ''),
    ),
  )
  const titles = titlesOf([...items.values()], node)
  const chapters: string[] = []
  let characters = 0
  for (const { path, type } of spine) {
    if (protectedPaths.has(path)) throw new Unreadable('it is protected against copying (DRM)')
    const html = /html|xml/.test(type) ? archive.text(path) : undefined
    const text = html === undefined ? '' : await htmlText(html)
    if (text === '') continue
    const title = /^#{1,6} /m.test(text) ? undefined : titles.get(path)
    chapters.push(title === undefined ? text : `# ${title}\n\n${text}`)
    characters += text.length
    assertLength(characters)
  }
  if (chapters.length === 0) throw new Unreadable('its chapters have no text; they may be pictures')
  const metadata = find(book, 'metadata')
  const language = oneLine(textIn(elements(metadata, 'language')[0]))
  return {
    text: `${chapters.join('\n\n')}\n`,
    start: 0,
    metadata: {
      ...about(textIn(elements(metadata, 'title')[0]), elements(metadata, 'creator').map(textIn).join(', ')),
      ...(language === '' ? {} : { language }),
    },
    chunker: 'markdown',
  }
}

function itemsOf(book: XmlNode, packagePath: string): Map<string, Item> {
  return new Map(
    elements(find(book, 'manifest'), 'item').map(({ attributes }) => [
      attributes.id ?? '',
      {
        path: pathOf(packagePath, attributes.href ?? ''),
        type: attributes['media-type'] ?? '',
        properties: (attributes.properties ?? '').split(/\s+/),
      },
    ]),
  )
}

/** The titles of the files that the contents name first: of EPUB 3, else of EPUB 2. */
function titlesOf(items: readonly Item[], node: (path: string) => XmlNode | undefined): Map<string, string> {
  const contents = items.find(({ properties }) => properties.includes('nav'))
  const older = items.find(({ type }) => type === 'application/x-dtbncx+xml')
  const links = contents
    ? findAll(find(node(contents.path), 'nav'), 'a').map((link) => ({ to: link.attributes.href, title: textIn(link) }))
    : points(older && node(older.path)).map((point) => ({
        to: elements(point, 'content')[0]?.attributes.src,
        title: textIn(elements(point, 'navLabel')[0]),
      }))
  const titles = new Map<string, string>()
  for (const { to = '', title } of links) {
    const path = pathOf((contents ?? older)?.path ?? '', to)
    if (!titles.has(path) && oneLine(title) !== '') titles.set(path, oneLine(title))
  }
  return titles
}

function points(node: XmlNode | undefined): XmlNode[] {
  return elements(node).flatMap((child) => [...(child.name === 'navPoint' ? [child] : []), ...points(child)])
}

/** Where an address without its `#fragment` leads, as the archive names it. */
function pathOf(from: string, address: string): string {
  const path = address.split('#', 1)[0] ?? ''
  const joined = (name: string) => posix.join(posix.dirname(from), name)
  try {
    return joined(decodeURIComponent(path))
  } catch {
    return joined(path)
  }
}
