import type { Json } from '../../core/json.ts'
import { isObject } from '../../schema/field.ts'
import { hashOf, type PeerPart } from './objects.ts'

interface Digest {
  length: number
  hash: string
}

/** A text that was passed on: first what an earlier process did, of which only digests are known. */
interface TextItem {
  before: readonly Digest[]
  text: string
}

/** Data or a file, by the hash of its part. */
interface OtherItem {
  hash: string
}

type Item = TextItem | OtherItem

/**
 * What was passed on of one artifact, so that the server may tell it again: as a whole in a snapshot, or in pieces after a
 * snapshot that is behind.
 */
export class Artifact {
  #items: Item[] = []
  /** What was passed on and is not in the newest snapshot: it will be told again. */
  #ahead: (OtherItem | { left: number })[] = []

  /** What is new in a piece that continues the artifact. */
  add(parts: readonly PeerPart[]): PeerPart[] {
    const added: PeerPart[] = []
    for (const part of parts) {
      const rest = this.#notAhead(part)
      if (rest === undefined) continue
      this.#push(rest)
      added.push(rest)
    }
    return added
  }

  /** What is new in the whole artifact. Where it differs from what was passed on, all from there on is new. */
  replace(parts: readonly PeerPart[]): PeerPart[] {
    const whole = merged(parts)
    this.#ahead = []
    for (const [at, part] of whole.entries()) {
      const known = this.#items[at]
      if (known !== undefined && isSame(known, part)) continue
      if (part.type === 'text' && known !== undefined && isText(known)) {
        const length = lengthOf(known)
        if (at === this.#items.length - 1 && continues(known, part.text)) {
          const added: PeerPart[] = [{ type: 'text', text: part.text.slice(length) }, ...whole.slice(at + 1)]
          for (const one of added) this.#push(one)
          return added
        }
        if (at === whole.length - 1 && isBeginning(part.text, known)) {
          this.#ahead = [{ left: length - part.text.length }, ...this.#items.slice(at + 1).map(toAhead)]
          return []
        }
      }
      this.#items.length = Math.min(at, this.#items.length)
      const added = whole.slice(at)
      for (const one of added) this.#push(one)
      return added
    }
    this.#ahead = this.#items.slice(whole.length).map(toAhead)
    return []
  }

  /** Whether these parts are all that it has. */
  equals(parts: readonly PeerPart[]): boolean {
    const whole = merged(parts)
    return whole.length === this.#items.length && this.#items.every((item, at) => isSame(item, whole[at]))
  }

  toJson(): Json {
    return this.#items.map((item) => {
      if (!isText(item)) return item.hash
      const { before, text } = item
      const last = text === '' ? [] : [{ length: text.length, hash: hashOf(text) }]
      return [...before, ...last].map((digest) => ({ ...digest }))
    })
  }

  /** Undefined for anything but a `toJson`. */
  static from(value: unknown): Artifact | undefined {
    if (!Array.isArray(value)) return undefined
    const artifact = new Artifact()
    for (const item of value) {
      if (typeof item === 'string') artifact.#items.push({ hash: item })
      else if (Array.isArray(item) && item.every(isDigest)) artifact.#items.push({ before: item, text: '' })
      else return undefined
    }
    return artifact
  }

  #push(part: PeerPart): void {
    const last = this.#items.at(-1)
    if (part.type !== 'text') this.#items.push({ hash: hashOfPart(part) })
    else if (last !== undefined && isText(last)) last.text += part.text
    else if (part.text !== '') this.#items.push({ before: [], text: part.text })
  }

  #notAhead(part: PeerPart): PeerPart | undefined {
    const next = this.#ahead[0]
    if (next === undefined) return part
    if (part.type === 'text' && 'left' in next) {
      if (part.text.length < next.left) {
        next.left -= part.text.length
        return undefined
      }
      this.#ahead.shift()
      const rest = part.text.slice(next.left)
      return rest === '' ? undefined : this.#notAhead({ type: 'text', text: rest })
    }
    if (part.type !== 'text' && 'hash' in next && isSameHash(next.hash, hashOfPart(part))) {
      this.#ahead.shift()
      return undefined
    }
    this.#ahead = []
    return part
  }
}

function isText(item: Item): item is TextItem {
  return 'text' in item
}

function lengthOf({ before, text }: TextItem): number {
  return before.reduce((sum, { length }) => sum + length, text.length)
}

function toAhead(item: Item): OtherItem | { left: number } {
  return isText(item) ? { left: lengthOf(item) } : item
}

/** Of a file what it is about, and how it came. */
function hashOfPart(part: PeerPart): string {
  if (part.type !== 'file') return hashOf(JSON.stringify(part))
  const { raw, url, ...about } = part
  const way = raw === undefined ? 'url' : 'raw'
  return `${hashOf(JSON.stringify(about))}.${way}.${hashOf(raw ?? url ?? '')}`
}

/** A server may name a file by its address that it has sent whole before. */
function isSameHash(one: string, other: string): boolean {
  const [about, way] = one.split('.')
  const [otherAbout, otherWay] = other.split('.')
  return one === other || (way !== undefined && about === otherAbout && way !== otherWay)
}

function isSame(item: Item, part: PeerPart | undefined): boolean {
  if (part === undefined || isText(item) !== (part.type === 'text')) return false
  if (!isText(item)) return isSameHash(item.hash, hashOfPart(part))
  return part.type === 'text' && part.text.length === lengthOf(item) && continues(item, part.text)
}

function continues({ before, text }: TextItem, whole: string): boolean {
  let from = 0
  for (const { length, hash } of before) {
    if (hashOf(whole.slice(from, from + length)) !== hash) return false
    from += length
  }
  return whole.startsWith(text, from)
}

/** As far as the text is known. */
function isBeginning(beginning: string, { before, text }: TextItem): boolean {
  const from = before.reduce((sum, { length }) => sum + length, 0)
  return beginning.length <= from + text.length && text.startsWith(beginning.slice(from))
}

function isDigest(value: unknown): value is Digest {
  return isObject(value) && typeof value.hash === 'string' && Number.isSafeInteger(value.length)
}

/** Without empty texts, and with neighbouring ones as one. */
function merged(parts: readonly PeerPart[]): PeerPart[] {
  const whole: PeerPart[] = []
  for (const part of parts) {
    const last = whole.at(-1)
    if (part.type !== 'text') whole.push(part)
    else if (last?.type === 'text') whole[whole.length - 1] = { type: 'text', text: last.text + part.text }
    else if (part.text !== '') whole.push(part)
  }
  return whole
}
