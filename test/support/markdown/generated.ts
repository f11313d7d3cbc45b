import type { Answer } from './written.ts'

/** A piece of Markdown, and what a reader must see of it: more than one way where the layout decides. */
interface Piece {
  markdown: string
  shows: readonly string[]
}

const words = [
  'the', 'answer', 'is', 'configuration', 'of', 'a', 'server', 'which', 'listens', 'x', 'to', 'loopback,', 'and', 'then',
  '(however)', 'internationalisation', 'e.g.', '8080', 'naïve', 'Straße', '设置服务器', '再起動してください', '설정', 'قاعدة', 'البيانات',
  'מסד', 'נתונים', '👩🏽‍🌾', '👨‍👩‍👧‍👦', '🇩🇪', '❤️', 'cafe\u0301', 'ภาษาไทย', 'हिन्दी', '“quoted”', '—', '…', 'a/b/c/d.ts:12',
  'pneumonoultramicroscopicsilicovolcanoconiosis', 'https://example.test/a/long/path/to/some/document.html?version=2',
] // biome-ignore format: a list of words

/** The same answers each time. */
export function generateAnswers(count: number, seed: number): Answer[] {
  const random = mulberry32(seed)
  return Array.from({ length: count }, (_, place) => {
    const { markdown, shows } = answer(random)
    return { name: `generated ${place}`, markdown, shows }
  })
}

type Random = () => number

function answer(random: Random): Piece {
  let tables = 0
  const pieces = many(random, 2, 5, () => {
    const piece = block(random, 0, tables === 0)
    if (piece.shows.length > 1) tables++
    return piece
  })
  return apart(random, pieces)
}

function block(random: Random, depth: number, mayBeTable: boolean): Piece {
  const kind = random()
  if (kind < 0.3) return paragraph(random)
  if (kind < 0.4 && depth === 0) return prefixed('#'.repeat(upTo(random, 1, 6)), sentence(random, 2, 12))
  if (kind < 0.5) return code(random)
  if (kind < 0.65 && depth < 3) return quote(random, depth)
  if (kind < 0.75 && mayBeTable) return table(random)
  return depth < 3 ? list(random, depth) : paragraph(random)
}

function paragraph(random: Random): Piece {
  return together(
    many(random, 1, 4, () => sentence(random, 3, 25)),
    '\n',
  )
}

function sentence(random: Random, least: number, most: number): Piece {
  return together(
    many(random, least, most, () => word(random)),
    ' ',
  )
}

function word(random: Random): Piece {
  const text = words[Math.floor(random() * words.length)] ?? ''
  const style = random()
  if (style < 0.06) return { markdown: `**${text}**`, shows: [text] }
  if (style < 0.1) return { markdown: `\`${text}\``, shows: [`\`${text}\``] }
  if (style < 0.13) return { markdown: `[${text}](http://x.test/y)`, shows: [`${text} (http://x.test/y)`] }
  return { markdown: text, shows: [text] }
}

function code(random: Random): Piece {
  const lines = many(random, 1, 5, () => {
    const plain = many(random, 1, 14, () => words[Math.floor(random() * words.length)] ?? '').join(' ')
    return { markdown: `${'  '.repeat(upTo(random, 0, 4))}${plain}`, shows: [plain] }
  })
  const { markdown, shows } = together(lines, '\n')
  return { markdown: `\`\`\`${random() < 0.5 ? 'ts' : ''}\n${markdown}\n\`\`\``, shows }
}

function quote(random: Random, depth: number): Piece {
  const { markdown, shows } = apart(
    random,
    many(random, 1, 2, () => block(random, depth + 1, false)),
  )
  return { markdown: markdown.replace(/^/gm, '> '), shows }
}

function list(random: Random, depth: number): Piece {
  const isOrdered = random() < 0.5
  // Only a list that starts with 1 may follow a paragraph at once.
  const first = depth === 0 ? upTo(random, 0, 120) : 1
  const loose = random() < 0.3
  let place = 0
  const items = many(random, 1, 5, () => {
    const mark = isOrdered ? `${first + place++}.` : '-'
    const own = sentence(random, 1, 25)
    const inner = random() < 0.35 ? together([own, block(random, depth + 1, false)], loose ? '\n\n' : '\n') : own
    const [top = '', ...rest] = inner.markdown.split('\n')
    const indented = rest.map((line) => (line === '' ? '' : `${' '.repeat(mark.length + 1)}${line}`))
    return {
      markdown: [`${mark} ${top}`, ...indented].join('\n'),
      shows: inner.shows.map((shown) => `${isOrdered ? mark : '•'} ${shown}`),
    }
  })
  return together(items, loose ? '\n\n' : '\n')
}

function table(random: Random): Piece {
  const columns = upTo(random, 1, 5)
  const cells = () => Array.from({ length: columns }, () => sentence(random, 1, 4))
  const head = cells()
  const rows = many(random, 1, 6, cells)
  const line = (row: readonly Piece[]) => `| ${row.map(({ markdown }) => markdown).join(' | ')} |`
  const shown = (row: readonly Piece[]) => row.map(({ shows: [text = ''] }) => text)
  const listed = rows.map((row) => shown(row).map((text, place) => `${head[place]?.shows[0]}: ${text}`))
  return {
    markdown: [line(head), `|${' --- |'.repeat(columns)}`, ...rows.map(line)].join('\n'),
    shows: [[head, ...rows].flatMap(shown).join(' '), listed.flat().join(' ')],
  }
}

function prefixed(mark: string, { markdown, shows }: Piece): Piece {
  return { markdown: `${mark} ${markdown}`, shows }
}

/** Blocks one below the other. Two lists would be one, so words stand between them. */
function apart(random: Random, pieces: readonly Piece[]): Piece {
  const isList = ({ markdown }: Piece) => /^(?:-|\d+\.) /.test(markdown)
  const spaced = pieces.flatMap((piece, place) => {
    const before = pieces[place - 1]
    return before !== undefined && isList(before) && isList(piece) ? [paragraph(random), piece] : [piece]
  })
  return together(spaced, '\n\n')
}

function together(pieces: readonly Piece[], between: string): Piece {
  const ways = Math.max(...pieces.map(({ shows }) => shows.length))
  return {
    markdown: pieces.map(({ markdown }) => markdown).join(between),
    shows: Array.from({ length: ways }, (_, way) => pieces.map(({ shows }) => shows[way] ?? shows[0]).join(' ')),
  }
}

function many<T>(random: Random, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: upTo(random, least, most) }, make)
}

function upTo(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1))
}

function mulberry32(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
