export interface Section {
  /** The headings above it, outermost first. */
  path: string[]
  text: string
}

export interface Document {
  title: string
  description: string
  sections: Section[]
}

const entities: Record<string, string> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', mdash: '—', ndash: '–', hellip: '…', copy: '©' },
  ...{ lsquo: "'", rsquo: "'", ldquo: '"', rdquo: '"', rarr: '→', larr: '←', le: '≤', ge: '≥', para: '¶', middot: '·' },
}

export function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,10}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ' '
  })
}

export function cleanMarkdown(text: string): string {
  const plain = text
    .replace(/<!--.*?-->/gs, ' ')
    .replace(/\{\{[<%].*?[%>]\}\}/gs, ' ')
    .replace(/\{%.*?%\}/g, ' ')
    .replace(/\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)/g, ' ')
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\[([^\]]*)\]\[[^\]]*\]/g, '$1')
    .replace(/^\[[^\]]*\]:.*$/gm, '')
    .replace(/<\/?[a-zA-Z][^>\n]*>/g, ' ')
    .replace(/^import .* from .*$/gm, '')
    .replace(/^(```|:::).*$/gm, '')
    .replace(/[*`|]+/g, ' ')
    .replace(/[-=_~#]{4,}/g, ' ')
  return unescapeHtml(plain)
    .replace(/[ \t]+/g, ' ')
    .trim()
}

function cleanRst(text: string): string {
  return text
    .replace(/^\.\. (_[^:\n]*:.*|[\w-]+::.*|\|.*)$/gm, '')
    .replace(/^\s+:[\w-]+:.*$/gm, '')
    .replace(/:[\w:.+-]+:`([^`<]*)(<[^`]*>)?`/g, '$1')
    .replace(/`([^`<]*)<[^`]*>`_+/g, '$1')
    .replace(/[*`|]+/g, ' ')
    .replace(/[-=_~#^"]{4,}/g, ' ')
    .replace(/[ \t]+/g, ' ')
    .trim()
}

function cleanHeading(heading: string): string {
  const plain = heading
    .replace(/\{#.*?\}|<[^>]*>/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/:[\w:.+-]+:`([^`<]*)(<[^`]*>)?`/g, '$1')
  return unescapeHtml(plain)
    .replace(/[*`#¶]+|\{\{.*?\}\}/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Collects sections under the headings that are open. */
export function collector(clean: (text: string) => string) {
  const sections: Section[] = []
  let open: [level: number, title: string][] = []
  let lines: string[] = []
  const flush = () => {
    sections.push({ path: open.map(([, title]) => title).filter(Boolean), text: clean(lines.join('\n')) })
    lines = []
  }
  return {
    sections,
    flush,
    line: (line: string) => lines.push(line),
    heading(level: number, title: string) {
      flush()
      open = [...open.filter(([above]) => above < level), [level, title]]
    },
    /** Closes the headings of this level and below. */
    close(level: number) {
      flush()
      open = open.filter(([above]) => above < level)
    },
  }
}

export function sectionsOfMarkdown(source: string): Document {
  let title = ''
  let description = ''
  const front = /^\uFEFF?---\s*\n(.*?)\n---\s*\n/s.exec(source)
  const text = front ? source.slice(front[0].length) : source
  for (const key of ['title', 'description', 'summary']) {
    const found = new RegExp(`^${key}:\\s*[>|]?-?\\s*(.*(?:\\n\\s+.*)*)$`, 'm').exec(front?.[1] ?? '')?.[1]
    const value = (found ?? '').replace(/\s+/g, ' ').replace(/^[ "']+|[ "']+$/g, '')
    if (key === 'title') title = value
    else description ||= value
  }
  const { sections, heading, line: add, flush } = collector(cleanMarkdown)
  let isCode = false
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode
    const hashes = isCode ? null : /^(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line)
    const underline = !isCode && line.trim() !== '' && /^(=+|-{3,})\s*$/.exec(lines[at + 1] ?? '')
    const level = hashes ? (hashes[1]?.length ?? 1) : underline ? (underline[0].startsWith('=') ? 1 : 2) : 0
    if (level === 0) add(line)
    else {
      const name = cleanHeading(hashes ? (hashes[2] ?? '') : line)
      heading(level, name)
      if (level === 1) title ||= name
    }
  }
  flush()
  return { title, description, sections }
}

const adornment = /^([-=~^"'#*+.`])\1{2,}\s*$/

export function sectionsOfRst(text: string): Document {
  let title = ''
  const levels: string[] = []
  const { sections, heading, line: add, flush } = collector(cleanRst)
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const under = lines[at + 1] ?? ''
    const bold = /^\*\*(.{8,}?)\*\*:?\s*$/.exec(line)
    const isLong = under.trim().length >= line.trim().length - 2
    const isTitle = /^\S/.test(line) && isLong && adornment.test(under) && !adornment.test(line)
    if (!bold && !isTitle) {
      add(line)
      continue
    }
    const kind = bold ? 'bold' : (under.trim()[0] ?? '')
    if (!levels.includes(kind)) levels.push(kind)
    const name = cleanHeading(bold?.[1] ?? line)
    heading(levels.indexOf(kind) + 1, name)
    title ||= name
    if (!bold) at++
  }
  flush()
  return { title, description: '', sections }
}

export function sectionsOfHtml(source: string): Document {
  const text = source
    .replace(/<(script|style|nav|header|footer)\b.*?<\/\1>/gis, ' ')
    .replace(/<!--.*?-->/gs, ' ')
    .replace(/<div class="section(\d)-title">(.*?)<\/div>/gs, '<h$1>$2</h$1>')
  const named = cleanHeading(/<title>(.*?)<\/title>/is.exec(text)?.[1] ?? '')
  const title = named.split(/ — | – | \| /)[0] ?? ''
  const { sections, heading, line, flush } = collector((body) => body.trim())
  const parts = text.split(/<h([1-6])\b[^>]*>(.*?)<\/h\1>/gis)
  for (let at = 1; at + 2 < parts.length; at += 3) {
    const name = cleanHeading(parts[at + 1] ?? '').replace(/^(Chapter )?[A-Z]?[\d.]+:?\s+/, '')
    heading(Number(parts[at]), name)
    const broken = (parts[at + 2] ?? '').replace(/<(p|div|li|tr|dt|dd|br|pre)\b[^>]*>/gi, '\n').replace(/<[^>]+>/g, '')
    const plain = unescapeHtml(broken).replace(/[ \t\xa0]+/g, ' ')
    line(plain.replace(/\n\s*\n+/g, '\n').replaceAll('¶', ''))
  }
  flush()
  return { title, description: '', sections: sections.slice(1) }
}
