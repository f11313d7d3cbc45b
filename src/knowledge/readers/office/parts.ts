import { posix } from 'node:path'
import { Unreadable } from '../markup/unreadable.ts'
import { elements, parseXml, textIn, type XmlNode } from '../markup/xml.ts'
import type { Archive } from './zip.ts'

/** An XML part of an Office or OpenDocument file. Throws `Unreadable` when it declares a document type. */
export function xmlPart(archive: Archive, name: string): string | undefined {
  const xml = archive.text(name)
  if (xml !== undefined && declaresEntities(xml)) throw withEntities()
  return xml
}

export function nodePart(archive: Archive, name: string): XmlNode | undefined {
  const xml = xmlPart(archive, name)
  return xml === undefined ? undefined : parseXml(xml)
}

export function declaresEntities(xml: string): boolean {
  return /<!(doctype|entity)/i.test(xml)
}

export function withEntities(): Unreadable {
  return new Unreadable('its XML declares a document type or entities')
}

export interface Relation {
  /** The last word of its type, such as `slide`. */
  kind: string
  /** The name of the part that it leads to. */
  target: string
}

/** Where the ids in a part of an Office file lead. */
export function relationsOf(archive: Archive, part: string): Map<string, Relation> {
  const root = nodePart(archive, posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`))
  return new Map(
    elements(root, 'Relationship').map(({ attributes: { Id = '', Type = '', Target = '' } }) => [
      Id,
      { kind: Type.split('/').at(-1) ?? '', target: targetOf(part, Target) },
    ]),
  )
}

function targetOf(part: string, target: string): string {
  return target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(part), target)
}

/** Title and author, as Office files have them. */
export function coreProperties(archive: Archive): { title?: string; author?: string } {
  const root = nodePart(archive, 'docProps/core.xml')
  return about(textIn(elements(root, 'title')[0]), textIn(elements(root, 'creator')[0]))
}

/** What is not empty of them, on one line. */
export function about(title: string, author: string): { title?: string; author?: string } {
  const [name, by] = [oneLine(title), oneLine(author)]
  return { ...(name === '' ? {} : { title: name }), ...(by === '' ? {} : { author: by }) }
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
