import { PageNode } from './page-node.ts'
import { alternative, tableOf } from './page-table.ts'

export interface MarkupNode {
  type: string
  name?: string
  data?: string
  attribs?: Record<string, string>
  children?: MarkupNode[]
}

export function textOf(node: MarkupNode): string {
  const parts: string[] = []
  const visit = (each: MarkupNode): void => {
    if (each.type === 'text') parts.push(each.data ?? '')
    for (const child of each.children ?? []) visit(child)
  }
  visit(node)
  return parts.join('').replace(/\s+/g, ' ').trim()
}

/** The nodes as Markdown, without those to leave out; '' when there is no text. */
export async function toMarkdown(
  nodes: readonly MarkupNode[],
  leaveOut: (node: MarkupNode) => boolean,
): Promise<string> {
  const { default: TurndownService } = await import('turndown')
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
  turndown.addRule('table', { filter: 'table', replacement: (_content, node) => tableOf(node as unknown as PageNode) })
  turndown.addRule('preformatted', {
    filter: 'pre',
    replacement: (_content, node) => fenced(node as unknown as PageNode),
  })
  turndown.addRule('image', {
    filter: 'img',
    replacement: (_content, node) => apart(node as unknown as PageNode),
  })
  const parts = nodes.map((node) => {
    const root = new PageNode('DIV', undefined, {})
    copy(node, root, leaveOut, outside)
    return turndown.turndown(root as never)
  })
  return parts.filter((part) => part.trim() !== '').join('\n\n')
}

/** Blocks that turndown takes for words in a line. */
const converted: Record<string, string> = { details: 'DIV', summary: 'P', legend: 'P' }

interface Place {
  /** In `pre`, white space counts. */
  isKept: boolean
  /** In `code` there is text alone. */
  isCode: boolean
  isHeading: boolean
}

const outside: Place = { isKept: false, isCode: false, isHeading: false }

function copy(from: MarkupNode, to: PageNode, leaveOut: (node: MarkupNode) => boolean, place: Place): void {
  for (const child of from.children ?? []) {
    if (child.type === 'text') to.append(new PageNode('#text', spaced(child.data ?? '', place.isKept), {}))
    else if (child.name === undefined || leaveOut(child) || isPermalink(child)) continue
    else if (isTextAlone(child, place)) copy(child, to, leaveOut, place)
    else {
      const isSection = child.name === 'li' && hasHeading(child)
      const name = isSection ? 'DIV' : (converted[child.name] ?? child.name.toUpperCase())
      const element = new PageNode(name, undefined, child.attribs ?? {})
      to.append(element)
      copy(child, element, leaveOut, {
        isKept: place.isKept || child.name === 'pre',
        isCode: place.isCode || child.name === 'code',
        isHeading: place.isHeading || /^h[1-6]$/.test(child.name),
      })
    }
  }
}

const headed = new WeakMap<MarkupNode, boolean>()

/** Javadoc makes sections of list items: in a list, their headings would be none. */
function hasHeading(node: MarkupNode): boolean {
  const known = headed.get(node)
  if (known !== undefined) return known
  const found = /^h[1-6]$/.test(node.name ?? '') || (node.children ?? []).some(hasHeading)
  headed.set(node, found)
  return found
}

/** Longer addresses hold data: a program to run, a picture. */
const longestAddress = 300

/**
 * Links in headings and code would put their addresses between the words; those within the page lead nowhere from a quote, and
 * stay only where they mark a note.
 */
function isTextAlone(node: MarkupNode, { isCode, isHeading, isKept }: Place): boolean {
  const { name, attribs = {} } = node
  if (isCode) return !isKept && name !== 'br' && name !== 'img'
  if (name !== 'a') return false
  const address = (attribs.href ?? '').trim()
  if (isHeading || address.length > longestAddress || /^(?:javascript|data):/i.test(address)) return true
  return address.startsWith('#') && /\p{L}/u.test(textOf(node))
}

/** The sign beside a heading that links to it. */
function isPermalink({ name, attribs = {}, children = [] }: MarkupNode): boolean {
  if (name !== 'a' || !/#/.test(attribs.href ?? '')) return false
  return children.every(
    ({ type, data = '' }) => type === 'text' && /^[\s\u200b\u00b6\u00a7\u221e#\u{1f517}]*$/u.test(data),
  )
}

const longestBlank = 200

/** Plain spaces only, since turndown is quadratic in other white space. Preserved white space keeps its length. */
function spaced(text: string, isKept: boolean): string {
  if (!isKept) return text.replace(/\s+/g, ' ')
  return text.replace(/\s+/g, (blank) => blank.slice(0, longestBlank).replace(/[^ \t\r\n]/g, ' '))
}

/** Of code with and without a `code` element inside; the language as highlighters name it. */
function fenced(block: PageNode): string {
  const classes = [block.getElementsByTagName('code')[0], block, block.parentNode, block.parentNode?.parentNode]
    .map((node) => node?.className ?? '')
    .join(' ')
  const language = /(?:^|\s)(?:language|highlight(?:-source)?|lang)-([\w+#-]+)/.exec(classes)?.[1] ?? ''
  const code = block.textContent.replace(/\n+$/, '')
  const longest = Math.max(2, ...[...code.matchAll(/`{3,}/g)].map(([marks]) => marks.length))
  const fence = '`'.repeat(longest + 1)
  return `\n\n${fence}${/^(default|source|none|text|notranslate)$/.test(language) ? '' : language}\n${code}\n${fence}\n\n`
}

/** A picture's alternative text, with a space to the words beside it. */
function apart(image: PageNode): string {
  const text = alternative(image)
  if (text === '') return ''
  const before = image.previousSibling === null || /\s$/.test(image.previousSibling.textContent) ? '' : ' '
  const after = image.nextSibling === null || /^\s/.test(image.nextSibling.textContent) ? '' : ' '
  return `${before}${text}${after}`
}
