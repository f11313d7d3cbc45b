import { sectionsOfManual } from './manual.ts'
import { cleanMarkdown, type Document, sectionsOfHtml, sectionsOfMarkdown, sectionsOfRst } from './markup.ts'

/** The sections of a documentation file, by the kind of its name. */
export function sectionsOf(path: string, text: string): Document {
  const name = path.replace(/\.gz$/, '')
  if (/\/man\/man\d\/|\.[1-8][a-z]*$/.test(name)) return sectionsOfManual(text)
  if (/\.x?html?$/.test(name)) return sectionsOfHtml(text)
  if (/\.(rst|txt)$/.test(name)) return sectionsOfRst(text)
  return sectionsOfMarkdown(text)
}

export function sectionsOfService(text: string): Document {
  const service = JSON.parse(text) as {
    metadata: { serviceFullName?: string }
    documentation?: string
    operations?: Record<string, { documentation?: string }>
    shapes?: Record<string, { members?: Record<string, { documentation?: string }> }>
  }
  const title = service.metadata.serviceFullName ?? ''
  const sections = [{ path: [title], text: withoutTags(service.documentation) }]
  for (const [name, { documentation }] of Object.entries(service.operations ?? {}))
    sections.push({ path: [title, spaced(name)], text: withoutTags(documentation) })
  for (const [name, { members = {} }] of Object.entries(service.shapes ?? {}))
    for (const [member, { documentation }] of Object.entries(members)) {
      const described = withoutTags(documentation)
      if (described.length > 160) sections.push({ path: [title, spaced(name), spaced(member)], text: described })
    }
  return { title, description: '', sections }
}

export function sectionsOfOpenApi(text: string): Document {
  type Operation = { description?: string; summary?: string; tags?: string[] }
  const api = JSON.parse(text) as { info: { title: string }; paths: Record<string, Record<string, Operation | string>> }
  const sections = Object.values(api.paths).flatMap((methods) =>
    Object.values(methods).flatMap((operation) => {
      if (typeof operation === 'string' || !operation.description) return []
      const path = [(operation.tags?.[0] ?? '').replaceAll('-', ' '), operation.summary ?? '']
      return [{ path, text: cleanMarkdown(operation.description) }]
    }),
  )
  return { title: api.info.title, description: '', sections }
}

export function sectionsOfBrowserSupport(text: string): Document {
  const { data } = JSON.parse(text) as { data: Record<string, { title: string; description?: string; notes?: string }> }
  const sections = Object.values(data).map(({ title, description = '', notes = '' }) => ({
    path: [title],
    text: `${description} ${notes}`,
  }))
  return { title: 'Browser support', description: '', sections }
}

/** Synonyms as headings of their gloss; names are left out. */
export function sectionsOfWordNet(texts: readonly string[]): Document {
  const sections: Document['sections'] = []
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const at = line.indexOf('|')
    if (at < 0 || line.startsWith(' ')) continue
    const fields = line.slice(0, at).split(/\s+/)
    const gloss = line.slice(at + 1).trim()
    const words = Array.from({ length: Number.parseInt(fields[3] ?? '0', 16) }, (_, index) =>
      (fields[4 + 2 * index] ?? '').replaceAll('_', ' ').replace(/\(.*\)/, ''),
    )
    if (gloss.length >= 25 && /^\P{Lu}/u.test(words[0] ?? '')) sections.push({ path: [words.join(', ')], text: gloss })
  }
  return { title: '', description: '', sections }
}

const spaced = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')

function withoutTags(html = ''): string {
  return html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
