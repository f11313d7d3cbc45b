import type { PageNode } from './page-node.ts'

const maxSpan = 1_000

/** A cell that spans rows stands in each of them; one that spans columns is followed by empty ones. */
export function tableOf(table: PageNode): string {
  const named = namedValues(table)
  if (named !== undefined) return named
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
  return `\n\n${captionOf(table)}${lines.join('\n')}\n\n`
}

/** A table in which each row is a name and its value is a list: as a table, its first row would be the head of the others. */
function namedValues(table: PageNode): string | undefined {
  const items: string[] = []
  for (const row of table.getElementsByTagName('tr')) {
    const cells = row.children.filter(({ nodeName }) => nodeName === 'TH' || nodeName === 'TD')
    const [name, value] = cells
    if (cells.length !== 2 || name?.nodeName !== 'TH' || value?.nodeName !== 'TD') return undefined
    const [before, after] = [name, value].map((cell) => cellText(cell).replace(/\s+/g, ' ').trim())
    items.push(`- ${before?.replace(/:$/, '')}: ${after}`)
  }
  return items.length === 0 ? undefined : `\n\n${captionOf(table)}${items.join('\n')}\n\n`
}

/** With the blank line that follows it; '' when there is none. */
function captionOf(table: PageNode): string {
  const caption = table.getElementsByTagName('caption').map(cellText).join(' ').replace(/\s+/g, ' ').trim()
  return caption === '' ? '' : `${caption}\n\n`
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

/** What a picture is called. */
export function alternative(image: PageNode): string {
  return (image.getAttribute('alt') ?? '').replace(/\s+/g, ' ').trim()
}
