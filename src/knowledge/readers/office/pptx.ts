import type { Heading } from '../../../core/knowledge/drivers.ts'
import { assertLength, Unreadable } from '../markup/unreadable.ts'
import { elements, find, findAll, textIn, type XmlNode } from '../markup/xml.ts'
import type { Found } from '../reader.ts'
import { coreProperties, nodePart, oneLine, relationsOf } from './parts.ts'
import { tableLines } from './table-lines.ts'
import type { Archive } from './zip.ts'

const maxSlides = 10_000
const presentationPart = 'ppt/presentation.xml'
/** What stands on every slide. */
const furniture = new Set(['dt', 'ftr', 'hdr', 'sldNum', 'sldImg'])
const titles = new Set(['title', 'ctrTitle'])

/** A page for each slide, headed by its title, with its texts, its tables and the notes of the speaker. */
export async function readPptx(archive: Archive): Promise<Found> {
  const relations = relationsOf(archive, presentationPart)
  const list = findAll(nodePart(archive, presentationPart), 'sldId')
  const parts = list.flatMap(({ attributes }) => relations.get(attributes['r:id'] ?? '')?.target ?? [])
  if (parts.length > maxSlides) throw new Unreadable(`it has more than ${maxSlides} slides`)
  const pages: number[] = []
  const outline: Heading[] = []
  let text = ''
  let hasText = false
  for (const [index, part] of parts.entries()) {
    const slide = nodePart(archive, part)
    const { title, lines } = linesOf(slide)
    const notes = notesOf(archive, part)
    hasText ||= title !== '' || lines.length > 0 || notes.length > 0
    const hidden = slide?.attributes.show === '0' ? ' (hidden)' : ''
    const heading = `${title || `Slide ${index + 1}`}${hidden}`
    pages.push(text.length)
    outline.push({ start: text.length, level: 1, title: heading })
    const said = notes.length === 0 ? [] : ['', 'Notes:', ...notes]
    text += `# ${heading}\n\n${[...lines, ...said].join('\n').trim()}\n\n`
    assertLength(text.length)
  }
  if (!hasText) throw new Unreadable('its slides have no text; they may be pictures')
  return {
    text,
    start: 0,
    metadata: { ...coreProperties(archive), slides: parts.length },
    chunker: 'markdown',
    pages,
    outline,
  }
}

function linesOf(slide: XmlNode | undefined): { title: string; lines: string[] } {
  let title = ''
  const lines: string[] = []
  for (const shape of shapesOf(find(slide, 'spTree'))) {
    const kind = placeholderOf(shape)
    if (kind !== undefined && furniture.has(kind)) continue
    const own = shapeLines(shape, kind)
    if (kind !== undefined && titles.has(kind) && title === '') title = oneLine(own.join(' '))
    else if (own.length > 0) lines.push(...(lines.length > 0 ? [''] : []), ...own)
  }
  return { title, lines }
}

/** Shapes, pictures and tables, also those of groups. Of alternatives, the one for every program. */
function shapesOf(tree: XmlNode | undefined): XmlNode[] {
  return elements(tree).flatMap((node) => {
    if (node.name === 'grpSp') return shapesOf(node)
    if (node.name === 'AlternateContent') return shapesOf(elements(node, 'Fallback')[0] ?? elements(node, 'Choice')[0])
    return ['sp', 'pic', 'graphicFrame', 'cxnSp'].includes(node.name) ? [node] : []
  })
}

function placeholderOf(shape: XmlNode): string | undefined {
  const placeholder = find(elements(shape)[0], 'ph')
  return placeholder && (placeholder.attributes.type ?? 'obj')
}

function shapeLines(shape: XmlNode, kind: string | undefined): string[] {
  const tables = findAll(shape, 'tbl').flatMap((table) =>
    tableLines(findAll(table, 'tr').map((row) => elements(row, 'tc').map((cell) => paragraphs(cell, false).join(' ')))),
  )
  const description = shape.name === 'pic' ? oneLine(find(shape, 'cNvPr')?.attributes.descr ?? '') : ''
  if (description !== '') return [description]
  if (tables.length > 0) return tables
  return paragraphs(elements(shape, 'txBody')[0] ?? find(shape, 'txbxContent'), kind === 'body' || kind === 'obj')
}

/** One line each. `listed`: in such a shape paragraphs are points unless they say no. */
function paragraphs(body: XmlNode | undefined, listed: boolean): string[] {
  return findAll(body, 'p').flatMap((paragraph) => {
    const look = elements(paragraph, 'pPr')[0]
    const text = oneLine(runsOf(paragraph))
    if (text === '') return []
    const isPoint = elements(look, 'buNone').length === 0 && (listed || elements(look).some(isBullet))
    return `${isPoint ? `${'  '.repeat(Math.min(8, Number(look?.attributes.lvl ?? 0) || 0))}- ` : ''}${text}`
  })
}

function isBullet({ name }: XmlNode): boolean {
  return name === 'buChar' || name === 'buAutoNum' || name === 'buBlip'
}

function runsOf(paragraph: XmlNode): string {
  return elements(paragraph)
    .map((part) =>
      part.name === 'br' ? ' ' : part.name === 'm' ? textIn(part) : findAll(part, 't').map(textIn).join(''),
    )
    .join('')
}

function notesOf(archive: Archive, part: string): string[] {
  const notes = [...relationsOf(archive, part).values()].find(({ kind }) => kind === 'notesSlide')
  const tree = notes && find(nodePart(archive, notes.target), 'spTree')
  return shapesOf(tree)
    .filter((shape) => placeholderOf(shape) === 'body')
    .flatMap((shape) => paragraphs(elements(shape, 'txBody')[0], false))
}
