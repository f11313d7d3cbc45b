import { Unreadable } from './unreadable.ts'

export interface XmlEvents {
  /** `name` is without its prefix; `attributes` are as written, for `attributesOf`. */
  open(name: string, attributes: string): void
  close(name: string): void
  text(text: string): void
}

export interface XmlNode {
  /** Without its prefix. */
  name: string
  /** With their prefixes. */
  attributes: Record<string, string>
  children: (XmlNode | string)[]
}

const maxDepth = 500

/**
 * Reads XML from its beginning to its end. Document types are skipped and their entities stay as written, so that nothing
 * multiplies. Throws `Unreadable` when it is cut off or its elements nest too deep.
 */
export function scanXml(xml: string, { open, close, text }: XmlEvents): void {
  let depth = 0
  for (let at = 0; at < xml.length; ) {
    const start = xml.indexOf('<', at)
    if (start !== at) text(decodeEntities(xml.slice(at, start === -1 ? xml.length : start)))
    if (start === -1) break
    const second = xml.charAt(start + 1)
    if (second === '?') at = after(xml, '?>', start)
    else if (second === '!') {
      if (xml.startsWith('<![CDATA[', start)) {
        at = after(xml, ']]>', start)
        text(xml.slice(start + 9, at - 3))
      } else at = xml.startsWith('<!--', start) ? after(xml, '-->', start + 4) : afterDeclaration(xml, start)
    } else {
      const end = tagEnd(xml, start)
      at = end + 1
      const isEmpty = xml.charAt(end - 1) === '/'
      const [from, to] = [second === '/' ? start + 2 : start + 1, isEmpty ? end - 1 : end]
      const nameEnd = endOfName(xml, from, to)
      const prefixed = xml.slice(from, nameEnd)
      const name = prefixed.slice(prefixed.lastIndexOf(':') + 1)
      if (second !== '/') {
        if (++depth > maxDepth) throw new Unreadable(`its elements are nested more than ${maxDepth} deep`)
        open(name, xml.slice(nameEnd, to))
      }
      if (second === '/' || isEmpty) {
        depth--
        close(name)
      }
    }
  }
  if (depth > 0) throw cutOff()
}

/** The root element, with everything in it. Throws `Unreadable`. */
export function parseXml(xml: string): XmlNode {
  const root: XmlNode = { name: '', attributes: {}, children: [] }
  const path = [root]
  scanXml(xml, {
    open(name, attributes) {
      const node = { name, attributes: attributesOf(attributes), children: [] }
      path.at(-1)?.children.push(node)
      path.push(node)
    },
    close() {
      if (path.length > 1) path.pop()
    },
    text(text) {
      if (path.length > 1) path.at(-1)?.children.push(text)
    },
  })
  return elements(root)[0] ?? root
}

export function attributesOf(written: string): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null)
  for (const [, name = '', double, single] of written.matchAll(/([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g))
    attributes[name] = decodeEntities(double ?? single ?? '')
  return attributes
}

/** The elements directly below, of this name if one is given. */
export function elements(node: XmlNode | undefined, name?: string): XmlNode[] {
  return (node?.children ?? []).filter(
    (child): child is XmlNode => typeof child !== 'string' && (name === undefined || child.name === name),
  )
}

/** The first element of this name, at any depth. */
export function find(node: XmlNode | undefined, name: string): XmlNode | undefined {
  for (const child of elements(node)) {
    const found = child.name === name ? child : find(child, name)
    if (found) return found
  }
  return undefined
}

/** All elements of this name, at any depth, outermost first; those inside of a found one are left out. */
export function findAll(node: XmlNode | undefined, name: string): XmlNode[] {
  return elements(node).flatMap((child) => (child.name === name ? [child] : findAll(child, name)))
}

export function textIn(node: XmlNode | undefined): string {
  return (node?.children ?? []).map((child) => (typeof child === 'string' ? child : textIn(child))).join('')
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name.toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
}

function endOfName(xml: string, from: number, to: number): number {
  let at = from
  while (at < to && xml.charCodeAt(at) > 32) at++
  return at
}

/** The `>` that ends a tag; quoted values may have others. */
function tagEnd(xml: string, start: number): number {
  for (let at = start + 1; at < xml.length; at++) {
    const code = xml.charCodeAt(at)
    if (code === 62) return at
    if (code === 34 || code === 39) {
      at = xml.indexOf(xml.charAt(at), at + 1)
      if (at === -1) break
    }
  }
  throw cutOff()
}

/** Behind a document type, whose declarations stand in brackets. */
function afterDeclaration(xml: string, start: number): number {
  const end = tagEnd(xml, start)
  const bracket = xml.indexOf('[', start)
  return bracket === -1 || bracket > end ? end + 1 : tagEnd(xml, after(xml, ']', bracket) - 1) + 1
}

function after(xml: string, mark: string, from: number): number {
  const at = xml.indexOf(mark, from)
  if (at === -1) throw cutOff()
  return at + mark.length
}

function cutOff(): Unreadable {
  return new Unreadable('its XML is damaged or cut off')
}
