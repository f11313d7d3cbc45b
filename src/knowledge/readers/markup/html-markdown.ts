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
    copy(node, root, leaveOut, false)
    return turndown.turndown(root as never)
  })
  return parts.filter((part) => part.trim() !== '').join('\n\n')
}

/** Blocks that turndown takes for words in a line. */
const converted: Record<string, string> = { details: 'DIV', summary: 'P', legend: 'P' }

function copy(from: MarkupNode, to: PageNode, leaveOut: (node: MarkupNode) => boolean, isKept: boolean): void {
  for (const child of from.children ?? []) {
    if (child.type === 'text') to.append(new PageNode('#text', spaced(child.data ?? '', isKept), {}))
    else if (child.name !== undefined && !leaveOut(child)) {
      const element = new PageNode(converted[child.name] ?? child.name.toUpperCase(), undefined, child.attribs ?? {})
      to.append(element)
      copy(child, element, leaveOut, isKept || child.name === 'pre')
    }
  }
}

const longestBlank = 200

/** Plain spaces only, since turndown is quadratic in other white space. Preserved white space keeps its length. */
function spaced(text: string, isKept: boolean): string {
  if (!isKept) return text.replace(/\s+/g, ' ')
  return text.replace(/\s+/g, (blank) => blank.slice(0, longestBlank).replace(/[^ \t\r\n]/g, ' '))
}

/**
 * The part of the DOM that turndown needs, over the parsed page: serialising the page and parsing it again would take
 * most of the time.
 */
class PageNode {
  parentNode: PageNode | null = null
  firstChild: PageNode | null = null
  lastChild: PageNode | null = null
  nextSibling: PageNode | null = null
  previousSibling: PageNode | null = null
  readonly nodeName: string
  readonly nodeType: 1 | 3
  data: string | undefined
  private readonly attributes: Record<string, string>

  constructor(nodeName: string, data: string | undefined, attributes: Record<string, string>) {
    this.nodeName = nodeName
    this.nodeType = data === undefined ? 1 : 3
    this.data = data
    this.attributes = attributes
  }

  get nodeValue(): string | null {
    return this.data ?? null
  }
  get childNodes(): PageNode[] {
    const nodes: PageNode[] = []
    for (let child = this.firstChild; child; child = child.nextSibling) nodes.push(child)
    return nodes
  }
  get children(): PageNode[] {
    return this.childNodes.filter((child) => child.nodeType === 1)
  }
  get textContent(): string {
    return this.data ?? this.childNodes.map((child) => child.textContent).join('')
  }
  get className(): string {
    return this.attributes.class ?? ''
  }

  getAttribute(name: string): string | null {
    return this.attributes[name] ?? null
  }

  getElementsByTagName(name: string): PageNode[] {
    const upper = name.toUpperCase()
    return this.children.flatMap((child) => [
      ...(child.nodeName === upper ? [child] : []),
      ...child.getElementsByTagName(upper),
    ])
  }

  append(child: PageNode): void {
    if (this.lastChild) this.lastChild.nextSibling = child
    else this.firstChild = child
    child.previousSibling = this.lastChild
    child.parentNode = this
    this.lastChild = child
  }

  /** The removed child keeps its links, because a walk of the page continues from it. */
  removeChild(child: PageNode): void {
    if (child.previousSibling) child.previousSibling.nextSibling = child.nextSibling
    else this.firstChild = child.nextSibling
    if (child.nextSibling) child.nextSibling.previousSibling = child.previousSibling
    else this.lastChild = child.previousSibling
    child.parentNode = null
  }

  /** The page is made for one conversion, which may change it. */
  cloneNode(): PageNode {
    return this
  }
}

const maxSpan = 1_000

/** A cell that spans rows stands in each of them; one that spans columns is followed by empty ones. */
function tableOf(table: PageNode): string {
  const below: { text: string; rows: number }[] = []
  const rows = table.getElementsByTagName('tr').map((row) => {
    const texts: string[] = []
    const fromAbove = () => {
      for (let above = below[texts.length]; above && above.rows > 0; above = below[texts.length]) {
        above.rows--
        texts.push(above.text)
      }
    }
    for (const cell of row.children) {
      if (cell.nodeName !== 'TH' && cell.nodeName !== 'TD') continue
      fromAbove()
      const text = cellText(cell).replace(/\s+/g, ' ').replaceAll('|', '\\|').trim()
      for (let column = 0; column < spanOf(cell, 'colspan'); column++) {
        below[texts.length] = { text: column === 0 ? text : '', rows: spanOf(cell, 'rowspan') - 1 }
        texts.push(column === 0 ? text : '')
      }
    }
    fromAbove()
    return texts
  })
  const filled = rows.filter((row) => row.length > 0)
  const width = filled.reduce((widest, row) => Math.max(widest, row.length), 0)
  if (width === 0) return ''
  const lines = filled.map((row) => `| ${[...row, ...Array<string>(width - row.length).fill('')].join(' | ')} |`)
  lines.splice(1, 0, `|${' --- |'.repeat(width)}`)
  const caption = table.getElementsByTagName('caption').map(cellText).join(' ').replace(/\s+/g, ' ').trim()
  return `\n\n${caption === '' ? '' : `${caption}\n\n`}${lines.join('\n')}\n\n`
}

function spanOf(cell: PageNode, name: string): number {
  const most = name === 'colspan' ? 50 : maxSpan
  return Math.min(most, Math.max(1, Number.parseInt(cell.getAttribute(name) ?? '1', 10) || 1))
}

const lineBreaking = new Set('P DIV LI UL OL BR H1 H2 H3 H4 H5 H6 PRE TD TH DT DD'.split(' '))

/** With spaces between blocks, and what pictures are called. */
function cellText(node: PageNode): string {
  if (node.data !== undefined) return node.data
  const text = node.nodeName === 'IMG' ? ` ${alternative(node)} ` : node.childNodes.map(cellText).join('')
  return lineBreaking.has(node.nodeName) ? ` ${text} ` : text
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

function alternative(image: PageNode): string {
  return (image.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim()
}
