/**
 * The part of the DOM that turndown needs, over the parsed page: serialising the page and parsing it again would take
 * most of the time.
 */
export class PageNode {
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
