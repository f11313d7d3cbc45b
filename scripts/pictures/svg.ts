import type { Piece, Screen, Style } from './screen.ts'

export interface Frame {
  screen: Screen
  /** How long it stands before the next. */
  seconds: number
}

const size = { cell: 8.4, line: 20, font: 14, edge: 16, bar: 32 }
const colours = {
  page: '#16191f',
  bar: '#22262f',
  text: '#d6dae2',
  ansi: [
    ['#3b4252', '#f07178', '#8fd18b', '#e6c07b', '#7aa9f7', '#c792ea', '#6fd3d8', '#d6dae2'],
    ['#7c8596', '#ff8b92', '#a8e6a1', '#ffd88f', '#9cc2ff', '#ddb0ff', '#8ee8ec', '#ffffff'],
  ].flat(),
}

/**
 * A terminal's window as an SVG, the same for the same frames. Several frames follow each other, over and over, from the last
 * one on, which shows the most; where nothing moves, it stays. Every piece of text is set to the width that its columns have, whatever the font.
 */
export function toSvg(frames: readonly Frame[], title: string, columns: number): string {
  const rows = Math.max(...frames.map(({ screen }) => screen.length))
  const width = Math.ceil(columns * size.cell + 2 * size.edge)
  const height = size.bar + rows * size.line + 2 * size.edge
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${size.font}">`,
    `<title>${escapeXml(title)}</title>`,
    ...(frames.length > 1 ? [`<style>${animation(frames)}</style>`] : []),
    `<rect width="${width}" height="${height}" rx="10" fill="${colours.page}"/>`,
    `<path d="M0 ${size.bar}V10a10 10 0 0 1 10-10h${width - 20}a10 10 0 0 1 10 10v${size.bar - 10}z" fill="${colours.bar}"/>`,
    ...['#f07178', '#e6c07b', '#8fd18b'].map(
      (colour, index) => `<circle cx="${20 + 20 * index}" cy="${size.bar / 2}" r="6" fill="${colour}"/>`,
    ),
    `<text x="${width / 2}" y="${size.bar / 2 + 5}" text-anchor="middle" fill="${colours.text}" opacity=".7">${escapeXml(title)}</text>`,
    ...frames.map(({ screen }, index) => drawFrame(screen, index, frames.length)),
    '</svg>\n',
  ].join('\n')
}

function animation(frames: readonly Frame[]): string {
  const total = frames.reduce((sum, { seconds }) => sum + seconds, 0)
  const percent = (at: number) => Math.round((10_000 * at) / total) / 100
  let before = frames.at(-1)?.seconds ?? 0
  const keys = frames.map(({ seconds }, index) => {
    const isLast = index === frames.length - 1
    const from = isLast ? 0 : percent(before)
    const to = percent(isLast ? seconds : before + seconds)
    if (!isLast) before += seconds
    const hidden = from === 0 ? '' : '0%{visibility:hidden}'
    return `@keyframes f${index}{${hidden}${from}%{visibility:visible}${to === 100 ? '' : `${to}%{visibility:hidden}`}}.f${index}{animation:f${index} ${total}s step-end infinite}`
  })
  return `@media (prefers-reduced-motion:no-preference){${keys.join('')}}`
}

function drawFrame(screen: Screen, index: number, count: number): string {
  const lines = screen
    .flatMap((row, line) => row.map((piece) => drawPiece(piece, line)))
    .filter((drawn) => drawn !== '')
  const hidden = index < count - 1 ? ' visibility="hidden"' : ''
  return [count > 1 ? `<g class="f${index}"${hidden}>` : '<g>', ...lines, '</g>'].join('\n')
}

function drawPiece({ column, text, width, style }: Piece, line: number): string {
  const y = size.bar + size.edge + line * size.line
  const at = (cell: number) => round(size.edge + cell * size.cell)
  const block = style.inverse
    ? `<rect x="${at(column)}" y="${y}" width="${round(width * size.cell)}" height="${size.line}" fill="${colours.text}"/>`
    : ''
  // Renderers differ in what they do with several spaces in a row, so none is drawn. Characters that take two columns are
  // pieces with more columns than characters, and stay whole.
  const words = text.length === width ? [...text.matchAll(/\S+(?: \S+)*/g)] : [...text.matchAll(/^.*$/g)]
  const drawn = words.map(({ 0: word, index }) => {
    const length = round((text.length === width ? word.length : width) * size.cell)
    return `<text x="${at(column + index)}" y="${y + 15}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${attributes(style)}>${escapeXml(word)}</text>`
  })
  return [block, ...drawn].join('')
}

function attributes({ colour, bold, dim, italic, underline, inverse }: Style): string {
  const fill = typeof colour === 'number' ? colours.ansi[colour] : (colour ?? colours.text)
  return [
    ` fill="${inverse ? colours.page : fill}"`,
    bold ? ' font-weight="bold"' : '',
    dim ? ' opacity=".6"' : '',
    italic ? ' font-style="italic"' : '',
    underline ? ' text-decoration="underline"' : '',
  ].join('')
}

function round(length: number): number {
  return Math.round(10 * length) / 10
}

/** Text between tags: XML has no place for control characters, escaped or not. */
function escapeXml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  return text.replace(/[&<>]/g, (sign) => names[sign] ?? sign).replace(/[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]/g, ' ')
}
