import type { Unit } from './unit.ts'

const html =
  /<\/?(?:a|abbr|b|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|ol|p|picture|pre|q|s|samp|small|source|span|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|tt|u|ul|var)(?:\s[^<>]*)?\/?>/gi
const comment = /<!--[\s\S]{0,2000}?-->/g

/** Files of programs and servers, whose marks are not those of Markdown: `#` begins a comment. */
const settings =
  /\.(?:conf|cfg|cnf|ini|env|properties|service|socket|timer|toml|ya?ml|json[5cl]?|ndjson|sh|bash|zsh|ps1|[cm]?[jt]sx?|py|rb|go|rs|java|kts?|swift|[ch]|cc|cpp|hpp|cs|php|scala|sql|lua|pl|tf|css)$|(?:^|\/)(?:[\w.-]*Caddyfile|[\w.-]*Dockerfile|Makefile|\.?dockerignore)$/i

/**
 * A quote for people: the marks of reStructuredText as those of Markdown, no HTML tags, the head of a table above its row, the
 * lines of programs and settings as code.
 */
export function readable({ text, head }: Unit, source: string): string {
  if (settings.test(source)) return fenced(text)
  const shown = head === undefined ? text : `${head}\n${text}`
  return /\.(?:rst|rest)$/i.test(source) ? fromReStructuredText(shown) : outsideCode(shown, withoutTags)
}

function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}

/** Code says what it says. */
function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^[ \t]*(?:```|~~~)[\s\S]*?^[ \t]*(?:```|~~~)[^\n]*$|`[^`\n]+`)/m)
    .map((part, at) => (at % 2 === 1 ? part : change(part)))
    .join('')
}

function withoutTags(prose: string): string {
  if (!prose.includes('<')) return prose
  const changed = prose
    .replace(comment, '')
    .replace(html, (tag) => (/^<(?:br|hr|\/p|\/tr|\/li)\b/i.test(tag) ? ' ' : ''))
  return changed === prose ? prose : changed.replace(/[ \t]+$/gm, '').replace(/^\n+/, '')
}

const label = /^\s*\.\. (?:_[^:]*|_`[^`]*`):/
const tableDirective = /^(?:list-table|csv-table|table)$/
const codeDirective = /^(?:code|code-block|sourcecode|highlight|parsed-literal)$/

function fromReStructuredText(text: string): string {
  const shown: string[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (label.test(line)) {
      while (lines[at + 1]?.trim() === '') at++
      continue
    }
    if (/^\s*\+[-+]+\+\s*$/.test(line)) continue
    if (/^\s*\+[=+]+\+\s*$/.test(line)) {
      shown.push(`|${'---|'.repeat(line.split('+').length - 2)}`)
      continue
    }
    const [, name, argument = ''] = /^\s*\.\. ([\w-]+)::\s*(.*)$/.exec(line) ?? []
    const isLiteral = name === undefined && /::\s*$/.test(line)
    const isCode = isLiteral || (name !== undefined && codeDirective.test(name))
    if (name === undefined && !isLiteral) {
      shown.push(inline(line))
      continue
    }
    const body = bodyAfter(lines, at, line)
    if (isLiteral) shown.push(inline(line.replace(/\s*::\s*$/, ':')))
    if (isCode && body.text.trim() !== '') shown.push(`\`\`\`${isLiteral ? '' : argument}`, body.text, '```')
    else if (name !== undefined && tableDirective.test(name)) {
      const table = (name === 'list-table' && tableOfList(body.text)) || body.text
      shown.push(
        [argument, table]
          .filter((part) => part !== '')
          .map(inline)
          .join('\n\n'),
      )
    } else if (!isCode) {
      const words = [argument, fromReStructuredText(body.text)].filter((part) => part !== '').join('\n')
      shown.push(`${name?.charAt(0).toUpperCase()}${name?.slice(1)}: ${inline(words)}`)
    }
    at = body.last
  }
  return shown.join('\n')
}

/** The lines that are indented below one, without their indentation and the options of a directive. */
function bodyAfter(lines: readonly string[], at: number, line: string): { text: string; last: number } {
  const depth = /^\s*/.exec(line)?.[0].length ?? 0
  let last = at
  for (let next = at + 1; next < lines.length; next++) {
    const indent = /^\s*/.exec(lines[next] ?? '')?.[0].length ?? 0
    if (lines[next]?.trim() === '') continue
    if (indent <= depth) break
    last = next
  }
  const body = lines.slice(at + 1, last + 1)
  while (body[0] !== undefined && (body[0].trim() === '' || /^\s*:[\w-]+:/.test(body[0]))) body.shift()
  const least = Math.min(...body.filter((each) => each.trim() !== '').map((each) => /^\s*/.exec(each)?.[0].length ?? 0))
  return { text: body.map((each) => each.slice(Number.isFinite(least) ? least : 0)).join('\n'), last }
}

/** The rows of a list-table, each an item whose items are its cells, the first one as the head; undefined if it has none. */
function tableOfList(body: string): string | undefined {
  const rows: string[][] = []
  const dash = /^\* +(?=- )/.exec(body)?.[0].length ?? 0
  for (const line of dash === 0 ? [] : body.split('\n')) {
    if (line.startsWith('* ')) rows.push([])
    const row = rows.at(-1) ?? []
    const isCell = line.slice(dash).startsWith('- ') && /^\*? *$/.test(line.slice(0, dash))
    if (isCell) row.push(line.slice(dash + 2).trim())
    else row.push([row.pop(), line.trim()].filter(Boolean).join(' '))
  }
  const [head] = rows
  if (head === undefined) return undefined
  const cells = rows.map((row) => head.map((_, at) => (row[at] ?? '').replaceAll('|', '\\|')))
  const [first, ...others] = cells.map((row) => `| ${row.join(' | ')} |`)
  return [first, `|${'---|'.repeat(head.length)}`, ...others].join('\n')
}

/** ``code``, :role:`text <target>` and `text <address>`_ as Markdown has them. */
function inline(line: string): string {
  return line
    .replace(/:[\w:+.-]+:`([^`<]*?)\s*<[^`>]*>`/g, '$1')
    .replace(/:[\w:+.-]+:`~?([^`]*)`/g, '`$1`')
    .replace(/(?<!`)`([^`<]+?)\s*<([^`>]+)>`__?/g, '[$1]($2)')
    .replace(/(?<!`)`([^`<>]+)`__?(?!`)/g, '$1')
    .replace(/``([^`]+(?:`[^`]+)*)``/g, '`$1`')
}
