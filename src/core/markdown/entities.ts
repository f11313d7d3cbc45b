import type { Found } from './inline.ts'

const entity = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}\d?));/iy
/** Those that models write; each other stays as it is. */
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  times: '×',
  middot: '·',
  bull: '•',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  larr: '←',
  rarr: '→',
  le: '≤',
  ge: '≥',
  ne: '≠',
  euro: '€',
}
/** Characters that are seen: none that steer a terminal or turn the direction of a text. */
const seen = /^[\p{L}\p{M}\p{N}\p{P}\p{S} \u00a0]$/u

export function entityAt(text: string, at: number): Found | undefined {
  entity.lastIndex = at
  const [whole = '', decimal, hexadecimal, name = ''] = entity.exec(text) ?? []
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal)
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : Object.hasOwn(named, name) ? named[name] : undefined
  if (character === undefined || !seen.test(character)) return undefined
  return { piece: { type: 'text', text: character }, end: at + whole.length }
}

/** With the characters that its entities stand for. */
export function decoded(text: string): string {
  return text.replace(/&[#\w]{2,9};/g, (found) => {
    const { piece } = entityAt(found, 0) ?? {}
    return piece?.type === 'text' ? piece.text : found
  })
}
