import { readMarkup } from './markup.ts'

/** What a page says about itself and others. */
export interface PageFacts {
  /** The addresses that it leads to, whole. */
  links: string[]
  /** The address that it wants to be known by. */
  canonical: string | undefined
  /** It asks not to be found by searches. */
  noindex: boolean
  /** It asks not to follow its links. */
  nofollow: boolean
}

const maxLinks = 5_000
/** Links are taken from the first part of a long page. */
const maxBytes = 5_000_000

/** Reads the HTML of a page. Whatever it consists of, this takes time in proportion to its length. */
export async function readFacts(bytes: Uint8Array, address: URL, header: (name: string) => string | undefined) {
  const facts = headerFacts(address, header)
  const links = new Set<string>()
  let base = address
  let hasBase = false
  const add = (href: string | undefined) => {
    const url = href === undefined ? null : URL.parse(href.trim(), base.href)
    if (url !== null && /^https?:$/.test(url.protocol) && links.size < maxLinks) links.add(url.href)
  }
  await readMarkup(new TextDecoder().decode(bytes.subarray(0, maxBytes)), 'html', {
    open(name, { href, rel = '', name: metaName = '', content = '', 'http-equiv': equivalent = '' }) {
      const relations = rel.toLowerCase().split(/\s+/)
      if (name === 'a' || name === 'area') {
        if (!relations.includes('nofollow')) add(href)
      } else if (name === 'base' && !hasBase) {
        base = URL.parse(href ?? '', address.href) ?? address
        hasBase = true
      } else if (name === 'link' && relations.includes('canonical')) facts.canonical ??= whole(href, base)
      else if (name === 'meta' && isRobots(metaName)) obey(facts, content)
      else if (name === 'meta' && equivalent.toLowerCase() === 'refresh')
        add(/^[\s\d.]*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i.exec(content)?.[1])
    },
  })
  return { ...facts, links: facts.nofollow ? [] : [...links] }
}

/** What the headers of an answer say, for documents that are not HTML. */
export function headerFacts(address: URL, header: (name: string) => string | undefined): PageFacts {
  const facts: PageFacts = { links: [], canonical: undefined, noindex: false, nofollow: false }
  for (const part of (header('x-robots-tag') ?? '').split(/,(?=\s*[\w-]+\s*:)/)) {
    const [, agent, said = ''] = /^\s*(?:([\w-]+)\s*:)?([\s\S]*)$/.exec(part) ?? []
    if (agent === undefined || isRobots(agent)) obey(facts, said)
  }
  for (const [, target, parameters = ''] of (header('link') ?? '').matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*"?(?:[^"]*\s)?canonical\b/i.test(parameters)) facts.canonical ??= whole(target, address)
  return facts
}

function isRobots(name: string): boolean {
  return /^(?:robots|agentserve)$/i.test(name.trim())
}

function obey(facts: PageFacts, content: string): void {
  const said = content.toLowerCase().split(/[\s,]+/)
  facts.noindex ||= said.includes('noindex') || said.includes('none')
  facts.nofollow ||= said.includes('nofollow') || said.includes('none')
}

function whole(href: string | undefined, base: URL): string | undefined {
  return href === undefined || href.trim() === '' ? undefined : URL.parse(href.trim(), base.href)?.href
}
