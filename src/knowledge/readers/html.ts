import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CheerioAPI } from 'cheerio'
import { unreadable } from '../../core/knowledge-filter.ts'
import type { TextReader } from './reader.ts'

const noise =
  'script,style,noscript,template,iframe,object,embed,svg,canvas,form,button,input,select,nav,aside,dialog,' +
  '[role=navigation],[role=search],[role=banner],[role=contentinfo],[aria-hidden=true],[hidden]'
const maxDepth = 500

/** What a page is about (`main`, `article`, else the body without navigation) as Markdown; lines count in that. */
export const htmlReader: TextReader = {
  name: 'html',
  mediaTypes: ['text/html', 'application/xhtml+xml'],
  extensions: ['.html', '.htm', '.xhtml'],
  async read(html, name) {
    if (nesting(html) > maxDepth) throw unreadable(name, `its elements are nested more than ${maxDepth} deep`)
    const [{ load }, { default: TurndownService }] = await Promise.all([import('cheerio'), import('turndown')])
    const page = load(html)
    const title = page('title').first().text().trim() || page('h1').first().text().trim()
    const language = page('html').attr('lang')
    const description = page('meta[name=description]').attr('content')?.trim()
    page(noise).remove()
    const main = page('main, [role=main]').first()
    const articles = page('article')
    const best = main.length > 0 ? main : articles.length > 0 ? articles : page('body')
    if (best.is('body')) best.find('header,footer').remove()
    const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
    turndown.addRule('table', { filter: 'table', replacement: (_content, node) => tableOf(node as unknown as Element) })
    turndown.addRule('image', {
      filter: 'img',
      replacement: (_content, node) => alternative(node as unknown as Element),
    })
    const converted: string[] = []
    for (const piece of piecesOf(page, best)) {
      converted.push(turndown.turndown(piece))
      await nextTurn()
    }
    const text = converted.filter((piece) => piece !== '').join('\n\n')
    if (text.trim() === '') throw unreadable(name, 'the page has no readable text')
    return {
      text: `${text}\n`,
      start: 0,
      metadata: {
        ...(title ? { title } : {}),
        ...(description ? { description } : {}),
        ...(language ? { language } : {}),
      },
      chunker: 'markdown',
    }
  },
}

const pieceLength = 16_000
const containers = new Set('div section article main body'.split(' '))
const blocks = new Set([
  ...containers,
  ...'p h1 h2 h3 h4 h5 h6 ul ol dl table pre blockquote figure header footer hr details'.split(' '),
])

/**
 * The HTML in pieces that begin with a block: converting takes time with the square of the length, and others want
 * their turn in between.
 */
function* piecesOf(page: CheerioAPI, parents: ReturnType<CheerioAPI>): Generator<string> {
  let piece = ''
  for (const node of parents.toArray().flatMap((parent) => page(parent).contents().toArray())) {
    const name = 'name' in node ? node.name : ''
    if (blocks.has(name) && piece.length >= pieceLength) {
      yield piece
      piece = ''
    }
    const html = page.html(node)
    if (html.length > pieceLength && containers.has(name)) {
      if (piece !== '') yield piece
      piece = ''
      yield* piecesOf(page, page(node))
    } else piece += html
  }
  if (piece !== '') yield piece
}

interface Element {
  textContent: string | null
  getAttribute(name: string): string | null
  querySelectorAll(selector: string): Iterable<Element> | ArrayLike<Element>
}

function tableOf(table: Element): string {
  const rows = Array.from(table.querySelectorAll('tr')).map((row) =>
    Array.from(row.querySelectorAll('th,td')).map((cell) =>
      (cell.textContent ?? '').replace(/\s+/g, ' ').replaceAll('|', '\\|').trim(),
    ),
  )
  const filled = rows.filter((row) => row.length > 0)
  const width = Math.max(0, ...filled.map((row) => row.length))
  if (width === 0) return ''
  const lines = filled.map((row) => `| ${[...row, ...Array<string>(width - row.length).fill('')].join(' | ')} |`)
  lines.splice(1, 0, `|${' --- |'.repeat(width)}`)
  return `\n\n${lines.join('\n')}\n\n`
}

function alternative(image: Element): string {
  return (image.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim()
}

/** An upper bound of how deep elements nest; turndown and the serialiser recurse. */
function nesting(html: string): number {
  let depth = 0
  let deepest = 0
  for (const match of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    if (unclosed.has((match[2] ?? '').toLowerCase())) continue
    depth = Math.max(0, depth + (match[1] === '/' ? -1 : 1))
    if (depth > deepest) deepest = depth
  }
  return deepest
}

const unclosed = new Set(
  'area base br col embed hr img input link meta source track wbr p li dt dd tr td th thead tbody tfoot option optgroup colgroup'.split(
    ' ',
  ),
)
