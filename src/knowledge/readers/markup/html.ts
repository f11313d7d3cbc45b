import type { Found } from '../reader.ts'
import { type MarkupNode, textOf, toMarkdown } from './html-markdown.ts'
import { Unreadable } from './unreadable.ts'

const maxDepth = 500
const tooDeep = `its elements are nested more than ${maxDepth} deep`
/** The parser's time is quadratic in the depth. */
const maxUnclosedTags = 10_000
const noise = new Set(
  'script style noscript template iframe object embed svg canvas button input select textarea nav dialog head'.split(
    ' ',
  ),
)
/** Beside the main content; inside it they belong to it. */
const beside = new Set(['aside', 'header', 'footer'])
const noiseRoles = new Set(['navigation', 'search', 'banner', 'contentinfo', 'menu', 'menubar'])
const noiseNames = new Set(
  'nav navbar navigation menu sidebar side-bar breadcrumb breadcrumbs pagination footer cookie-banner skip-link headerlink navheader navfooter nav-panel'.split(
    ' ',
  ),
)

/** The main content (`main`, `article`, else the body without navigation) as Markdown, whose lines count. */
export async function readHtml(html: string): Promise<Found> {
  const { text, title, language, description } = await convert(html)
  if (text === '') throw new Unreadable('the page has no readable text')
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
}

/** The same text alone; '' when there is none. */
export async function htmlText(html: string): Promise<string> {
  return (await convert(html)).text
}

async function convert(html: string): Promise<Page & { text: string }> {
  const closed = isXhtml(html) ? withEndTags(html) : html
  if (unclosedTags(closed) > maxUnclosedTags) throw new Unreadable(tooDeep)
  const { load } = await import('cheerio')
  const page = survey(load(closed).root()[0] as unknown as MarkupNode)
  const roots = page.main ? [page.main] : page.articles.length > 0 ? page.articles : [page.body]
  // A page may mark its own content as a sidebar: then the whole body is used.
  const text =
    (await toMarkdown(roots, (node) => isNoise(node, roots) || isNamedNoise(node))) ||
    (await toMarkdown([page.body], isHidden))
  return { ...page, text }
}

function isXhtml(html: string): boolean {
  return /^\s*<\?xml|<html[^>]{0,500}\sxmlns\s*=/i.test(html.slice(0, 2_000))
}

/** XHTML closes empty elements by `/>`, which opens them in HTML: all that follows `<title/>` would be the title. */
function withEndTags(xhtml: string): string {
  return xhtml.replace(
    /<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)[\s/>])([a-z][\w:-]*)(\s[^<>]*)?\/>/gi,
    '<$1$2></$1>',
  )
}

/** The maximum number of open tags: an upper bound of the depth. */
function unclosedTags(html: string): number {
  let open = 0
  let most = 0
  for (const [, closing, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    if (neverNested.has(name.toLowerCase())) continue
    open = Math.max(0, open + (closing === '/' ? -1 : 1))
    if (open > most) most = open
  }
  return most
}

const neverNested = new Set(
  'area base br col embed hr img input link meta source track wbr p li dt dd tr td th thead tbody tfoot option optgroup colgroup'.split(
    ' ',
  ),
)

interface Page {
  title: string | undefined
  language: string | undefined
  description: string | undefined
  main: MarkupNode | undefined
  articles: MarkupNode[]
  body: MarkupNode
}

/** One look at every element. Throws when they nest so deep that the conversion would overflow the stack. */
function survey(root: MarkupNode): Page {
  const page: Page = {
    title: undefined,
    language: undefined,
    description: undefined,
    main: undefined,
    articles: [],
    body: root,
  }
  let heading: string | undefined
  const visit = (node: MarkupNode, depth: number, inArticle: boolean, seen: boolean): void => {
    if (depth > maxDepth) throw new Unreadable(tooDeep)
    const { name, attribs = {} } = node
    if (name === 'html') page.language = attribs.lang
    if (name === 'title') page.title ??= textOf(node)
    if (name === 'meta' && attribs.name?.toLowerCase() === 'description') page.description = attribs.content?.trim()
    if (name === 'body') page.body = node
    const shown = seen && !isHidden(node)
    if (shown && name === 'h1') heading ??= textOf(node)
    if (shown && (name === 'main' || attribs.role === 'main')) page.main ??= node
    if (shown && name === 'article' && !inArticle) page.articles.push(node)
    for (const child of node.children ?? []) visit(child, depth + 1, inArticle || name === 'article', shown)
  }
  visit(root, 0, false, true)
  return { ...page, title: page.title || heading }
}

function isHidden({ name = '', attribs = {} }: MarkupNode): boolean {
  return (noise.has(name) && name !== 'head') || 'hidden' in attribs || attribs['aria-hidden'] === 'true'
}

function isNoise(node: MarkupNode, roots: readonly MarkupNode[]): boolean {
  const { name = '', attribs = {} } = node
  if (isHidden(node) || name === 'head' || noiseRoles.has(attribs.role ?? '')) return true
  return beside.has(name) && roots[0]?.name === 'body'
}

function isNamedNoise(node: MarkupNode): boolean {
  const { name, attribs = {} } = node
  const names = `${attribs.id ?? ''} ${attribs.class ?? ''}`
  if (names === ' ') return false
  // Texinfo puts the links to other pages above each section.
  if (name === 'table' && attribs.class === 'header' && !/[\p{L}\p{N}]/u.test(textOf(withoutLinks(node)))) return true
  return names.split(/\s+/).some((each) => noiseNames.has(each.toLowerCase()))
}

function withoutLinks(node: MarkupNode): MarkupNode {
  const children = (node.children ?? []).filter(({ name }) => name !== 'a').map(withoutLinks)
  return { ...node, children }
}
