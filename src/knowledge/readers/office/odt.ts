import { escapeHtml } from '../markup/escape.ts'
import { readHtml } from '../markup/html.ts'
import { assertLength, Unreadable } from '../markup/unreadable.ts'
import { elements, find, findAll, textIn, type XmlNode } from '../markup/xml.ts'
import type { Found } from '../reader.ts'
import { about, nodePart } from './parts.ts'
import type { Archive } from './zip.ts'

const others = new Set(['spreadsheet', 'presentation', 'drawing'])
/** What is not part of the text as it reads now. */
const leftOut = new Set(['tracked-changes', 'annotation', 'annotation-end', 'forms', 'sequence-decls', 'note-citation'])
/** An empty cell may be repeated to the edge of a sheet. */
const maxRepeats = 100

/** An OpenDocument text as Markdown: headings, lists, tables and notes; line numbers refer to the Markdown. */
export async function readOdt(archive: Archive): Promise<Found> {
  if (archive.text('META-INF/manifest.xml')?.includes('encryption-data'))
    throw new Unreadable('it is protected by a password')
  const content = nodePart(archive, 'content.xml')
  const body = find(content, 'body')
  const text = elements(body, 'text')[0]
  if (text === undefined) {
    const kind = elements(body).find(({ name }) => others.has(name))?.name ?? 'file'
    throw new Unreadable(`it is an OpenDocument ${kind}, which has no reader`)
  }
  const styles = find(nodePart(archive, 'styles.xml'), 'styles')
  const html = createHtml(new Map([...findAll(content, 'style'), ...elements(styles, 'style')].map(named)))
  const blocks = html.blocks(text)
  assertLength(blocks.length)
  const { metadata, ...found } = await readHtml(`<main>${blocks}</main>`)
  const meta = find(nodePart(archive, 'meta.xml'), 'meta')
  const of = (name: string) => textIn(elements(meta, name)[0])
  return { ...found, metadata: { ...metadata, ...about(of('title'), of('creator') || of('initial-creator')) } }
}

function named(style: XmlNode): [string, string] {
  return [style.attributes['style:name'] ?? '', style.attributes['style:parent-style-name'] ?? '']
}

/** `parents`: of each style. */
function createHtml(parents: ReadonlyMap<string, string>) {
  const nameOf = (node: XmlNode) => {
    const style = node.attributes['text:style-name'] ?? ''
    return `${style} ${parents.get(style) ?? ''}`
  }
  const blocks = (parent: XmlNode): string => {
    let html = ''
    let code: string[] = []
    for (const node of elements(parent)) {
      if (node.name === 'p' && /Preformatted|Source_20_Code|codeblock/i.test(nameOf(node))) {
        code.push(inline(node))
        continue
      }
      html += codeBlock(code) + block(node)
      code = []
    }
    return html + codeBlock(code)
  }
  const block = (node: XmlNode): string => {
    if (leftOut.has(node.name)) return ''
    if (node.name === 'h') {
      const level = Math.min(6, Math.max(1, Number(node.attributes['text:outline-level'] ?? 1) || 1))
      return `<h${level}>${inline(node)}</h${level}>`
    }
    if (node.name === 'p')
      return /(?:^|[ -])title(?: |$)/i.test(nameOf(node)) ? `<h1>${inline(node)}</h1>` : `<p>${inline(node)}</p>`
    if (node.name === 'list') {
      const items = elements(node).map((item) => `<li>${blocks(item)}</li>`)
      return `<ul>${items.join('')}</ul>`
    }
    if (node.name === 'table') return `<table>${findAll(node, 'table-row').map(row).join('')}</table>`
    return blocks(node)
  }
  const row = (node: XmlNode) => `<tr>${elements(node, 'table-cell').map(cell).join('')}</tr>`
  const cell = (node: XmlNode) => {
    const { attributes } = node
    const repeats = Math.min(maxRepeats, Number(attributes['table:number-columns-repeated'] ?? 1) || 1)
    const [across, down] = [attributes['table:number-columns-spanned'], attributes['table:number-rows-spanned']]
    const span = `${across ? ` colspan="${Number(across) || 1}"` : ''}${down ? ` rowspan="${Number(down) || 1}"` : ''}`
    return `<td${span}>${blocks(node)}</td>`.repeat(repeats)
  }
  const inline = (node: XmlNode): string =>
    node.children
      .map((child) => {
        if (typeof child === 'string') return escapeHtml(child)
        if (leftOut.has(child.name)) return ''
        if (child.name === 's') return ' '.repeat(Math.min(200, Number(child.attributes['text:c'] ?? 1) || 1))
        if (child.name === 'tab') return '\t'
        if (child.name === 'line-break') return '<br>'
        if (child.name === 'note') return ` (${escapeHtml(textIn(find(child, 'note-body')).trim())})`
        if (child.name === 'frame') return frame(child)
        return inline(child)
      })
      .join('')
  /** A picture is its description, a text frame is its text. */
  const frame = (node: XmlNode): string => {
    const description = textIn(find(node, 'desc')) || textIn(find(node, 'title'))
    return description === '' ? findAll(node, 'p').map(inline).join(' ') : ` ${escapeHtml(description)} `
  }
  return { blocks }
}

function codeBlock(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<pre>${lines.join('\n')}</pre>`
}
