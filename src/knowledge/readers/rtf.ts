import { readHtml } from './markup/html.ts'
import { assertLength, Unreadable } from './markup/unreadable.ts'
import type { Found } from './reader.ts'
import { charsetOf, charsetOfFont } from './rtf-charsets.ts'
import { createRtfWriter } from './rtf-writer.ts'

const maxDepth = 500
/** Groups that are no text of the document. */
const skipped = new Set(
  `fonttbl colortbl stylesheet listtable listoverridetable revtbl rsidtbl generator info pict object objdata themedata
  colorschememapping datastore latentstyles xmlnstbl header headerl headerr headerf footer footerl footerr footerf fldinst bkmkstart
  bkmkend annotation atnid atnauthor filetbl listtext pntext pntxta pntxtb private nonshppict mmathPr wgrffmtfilter sp sn sv`.split(
    /\s+/,
  ),
)
const symbols: Record<string, string> = {
  emdash: '—',
  endash: '–',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  tab: '\t',
  emspace: ' ',
  enspace: ' ',
}
interface State {
  /** What the group is for: text, a table of the head, or nothing. */
  kind: 'text' | 'fonts' | 'styles' | 'title' | 'author' | 'info' | 'skip'
  font: number
  /** Characters that follow a `\u` for older programs. */
  fallback: number
  hidden: boolean
  note: boolean
}

/** The text as Markdown, with headings by their styles, and tables; line numbers refer to the Markdown. */
export async function readRtf(bytes: Uint8Array): Promise<Found> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const { html, title, author } = toHtml(source)
  if (html === '') throw new Unreadable('it has no text')
  assertLength(html.length)
  const { metadata, ...found } = await readHtml(`<main>${html}</main>`)
  return { ...found, metadata: { ...metadata, ...(title && { title }), ...(author && { author }) } }
}

function toHtml(source: string): { html: string; title: string; author: string } {
  const writer = createRtfWriter()
  const path: State[] = []
  let state: State = { kind: 'text', font: -1, fallback: 1, hidden: false, note: false }
  let charset = 'windows-1252'
  const fonts = new Map<number, string>()
  const headings = new Map<number, number>()
  let style: number | undefined
  let styleName = ''
  const info = { title: '', author: '' }
  let level = 0
  let inTable = false
  let pending: number[] = []
  let toSkip = 0

  const add = (text: string) => {
    if (state.kind === 'text' && !state.hidden) writer.add(text)
    else if (state.kind === 'styles') styleName += text
    else if (state.kind === 'title' || state.kind === 'author') info[state.kind] += text
  }
  const flush = () => {
    if (pending.length === 0) return
    const charsetNow = fonts.get(state.font) ?? charset
    add(new TextDecoder(charsetNow).decode(Uint8Array.from(pending)))
    pending = []
  }
  const endParagraph = () => {
    flush()
    writer.endParagraph(level, inTable || state.note)
  }
  const control = (word: string, given: number | undefined) => {
    const number = given ?? 1
    if (word === 'u') {
      flush()
      add(String.fromCharCode(number < 0 ? number + 65_536 : number))
      toSkip = state.fallback
      return
    }
    flush()
    if (word === 'uc') state.fallback = Math.min(20, Math.max(0, number))
    else if (word === 'ansicpg') charset = charsetOf(number)
    else if (word === 'mac') charset = 'macintosh'
    else if (word === 'f') state.font = number
    else if (word === 'fcharset') {
      const known = charsetOfFont(number)
      if (state.kind === 'fonts' && known !== undefined) fonts.set(state.font, known)
    } else if (word === 'fonttbl') state.kind = 'fonts'
    else if (word === 'stylesheet') state.kind = 'styles'
    else if (word === 'info') state.kind = 'info'
    else if ((word === 'title' || word === 'author') && state.kind === 'info') state.kind = word
    else if (skipped.has(word)) state.kind = 'skip'
    else if (word === 'v') state.hidden = given !== 0
    else if (word === 'pard') {
      level = 0
      inTable = false
    } else if (word === 'plain') state.hidden = false
    else if (word === 's') {
      style = number
      if (state.kind === 'text') level = headings.get(number) ?? 0
    } else if (word === 'outlinelevel' && state.kind === 'text') level = number + 1 <= 6 ? (given ?? 0) + 1 : 0
    else if (word === 'intbl') inTable = true
    else if (state.kind !== 'text') return
    else if (word === 'par' || word === 'sect' || word === 'page') endParagraph()
    else if (word === 'footnote' && !state.note) {
      writer.beginNote()
      state.note = true
    } else if (word === 'line') add('\n')
    else if (word === 'cell') writer.endCell()
    else if (word === 'row') writer.endRow()
    else if (symbols[word] !== undefined) add(symbols[word])
  }

  const beginGroup = () => {
    flush()
    if (path.length === maxDepth) throw new Unreadable(`its groups are nested more than ${maxDepth} deep`)
    path.push(state)
    state = { ...state }
    toSkip = 0
  }
  const endGroup = () => {
    flush()
    if (state.kind === 'styles' && style !== undefined) {
      const depth = headingDepth(styleName.trim())
      if (depth !== undefined) headings.set(style, depth)
    }
    styleName = ''
    const isNoteEnd = state.note && path.at(-1)?.note === false
    state = path.pop() ?? state
    if (isNoteEnd) writer.endNote()
    if (state.kind === 'styles') style = undefined
    toSkip = 0
  }
  const symbol = (sign: string) => {
    if (sign === '~') add('\u00a0')
    else if (sign === '_') add('-')
    else if (sign === '\n' || sign === '\r') endParagraph()
    else if ('\\{}'.includes(sign)) pending.push(sign.charCodeAt(0))
  }

  const pattern = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([\da-f]{2})|\\([^a-z])|([{}])|([^\\{}]+)/gi
  for (let match = pattern.exec(source); match !== null; match = pattern.exec(source)) {
    const [, word, number, hex, sign, brace, plain] = match
    if (brace === '{') beginGroup()
    else if (brace === '}') {
      endGroup()
      if (path.length === 0) break
    } else if (word !== undefined) {
      if (word === 'bin') pattern.lastIndex += Math.max(0, Number(number ?? 0))
      else if (toSkip > 0) toSkip--
      else control(word, number === undefined ? undefined : Number(number))
    } else if (hex !== undefined) {
      if (toSkip > 0) toSkip--
      else pending.push(Number.parseInt(hex, 16))
    } else if (sign !== undefined) {
      if (sign === '*' && source.startsWith('\\footnote', pattern.lastIndex)) continue
      if (sign === '*') state.kind = state.kind === 'text' ? 'skip' : state.kind
      else if (toSkip > 0) toSkip--
      else symbol(sign)
    } else if (plain !== undefined) {
      const text = plain.replace(/[\r\n]/g, '')
      const kept = text.slice(Math.min(toSkip, text.length))
      toSkip -= text.length - kept.length
      for (let at = 0; at < kept.length; at++) pending.push(kept.charCodeAt(at))
    }
  }
  flush()
  return { html: writer.html(level), title: info.title.trim(), author: info.author.trim() }
}

/** Of a paragraph style, by its name. */
function headingDepth(style: string): number | undefined {
  const depth = /^heading (\d)\b/i.exec(style)?.[1] ?? (/^title\b/i.test(style) ? '1' : undefined)
  return depth === undefined ? undefined : Number(depth)
}
