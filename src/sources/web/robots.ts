/** What a robots.txt says to one crawler (RFC 9309). */
export interface Robots {
  /** By path and query. */
  allows(url: URL): boolean
  /** Of the crawler's group. */
  delayMs: number | undefined
  /** As they are written, of any host. */
  sitemaps: string[]
}

interface Rule {
  pattern: string
  isAllowed: boolean
}

interface Group {
  agents: string[]
  rules: Rule[]
  delayMs: number | undefined
}

/** What the RFC asks crawlers to read. */
export const maxRobotsBytes = 512_000
/** Longer than any address that is fetched. */
const maxPatternLength = 2_500

export const everythingAllowed: Robots = { allows: () => true, delayMs: undefined, sitemaps: [] }

/** `product`: the name of the crawler without its version. All groups that name it count; without one, those of `*`. */
export function parseRobots(text: string, product: string): Robots {
  const { groups, sitemaps } = readGroups(text)
  const named = groups.filter(({ agents }) => agents.includes(product.toLowerCase()))
  const mine = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes('*'))
  const rules = mine.flatMap((group) => group.rules)
  return {
    allows(url) {
      const path = normalised(url.pathname + url.search)
      if (path === '/robots.txt') return true
      let best: Rule | undefined
      for (const rule of rules) {
        const length = rule.pattern.length - (best?.pattern.length ?? -1)
        const wins = length > 0 || (length === 0 && rule.isAllowed)
        if (wins && matches(rule.pattern, path)) best = rule
      }
      return best?.isAllowed ?? true
    },
    delayMs: mine.findLast(({ delayMs }) => delayMs !== undefined)?.delayMs,
    sitemaps,
  }
}

function readGroups(text: string): { groups: Group[]; sitemaps: string[] } {
  const groups: Group[] = []
  const sitemaps: string[] = []
  let group: Group | undefined
  let isNaming = false
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    const [, key = '', value = ''] = /^\s*([a-z-]+)\s*:\s*([^#]*)/i.exec(line) ?? []
    const said = value.trim()
    switch (key.toLowerCase()) {
      case 'user-agent':
        if (group === undefined || !isNaming) {
          group = { agents: [], rules: [], delayMs: undefined }
          groups.push(group)
        }
        group.agents.push(productOf(said))
        isNaming = true
        break
      case 'allow':
      case 'disallow':
        isNaming = false
        if (said !== '' && said.length <= maxPatternLength)
          group?.rules.push({ pattern: normalised(said), isAllowed: key.toLowerCase() === 'allow' })
        break
      case 'crawl-delay':
        isNaming = false
        if (group !== undefined && /^\d+(\.\d+)?$/.test(said)) group.delayMs = Number(said) * 1_000
        break
      // It belongs to no group, and ends none.
      case 'sitemap':
        if (said !== '') sitemaps.push(said)
        break
    }
  }
  return { groups, sitemaps }
}

function productOf(agent: string): string {
  return agent === '*' ? '*' : (/^[a-z_-]+/i.exec(agent)?.[0] ?? agent).toLowerCase()
}

/** Characters beyond ASCII as UTF-8 with percent signs, whose letters are large; stars in a row are one. */
function normalised(path: string): string {
  return path
    .replace(/[^\0-\x7f]+/g, (text) => encodeURI(text.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (code) => code.toUpperCase())
    .replace(/\*+/g, '*')
}

/** From the beginning: `*` is any text, `$` at the end is the end. Takes at most pattern × path steps. */
function matches(pattern: string, path: string): boolean {
  const isWhole = pattern.endsWith('$')
  const wanted = isWhole ? pattern.slice(0, -1) : `${pattern}*`
  let at = 0
  let star = -1
  let tried = 0
  for (let index = 0; index < path.length; ) {
    if (wanted[at] === '*') {
      if (at === wanted.length - 1) return true
      star = at++
      tried = index
    } else if (at < wanted.length && wanted[at] === path[index]) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++tried
    } else return false
  }
  while (wanted[at] === '*') at++
  return at === wanted.length
}
