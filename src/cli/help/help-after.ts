import { wrapColumns } from '../markdown/wrapping.ts'
import { asCalled } from '../terminal/called-as.ts'
import { guides } from './guides.ts'

const usualColumns = 80

export function helpAfter(name: string): string {
  const guide = guides[name]
  if (guide === undefined) return ''
  const more = guide.page === undefined ? '' : `\n\nMore: docs/${guide.page}.md`
  const examples = guide.examples.map((example) => `  $ ${example}`).join('\n')
  const details = paragraphsIn(asCalled(guide.details.replaceAll('`', '')), process.stdout.columns ?? usualColumns)
  return asCalled(`\n${details}\n\nExamples:\n${examples}${more}`)
}

/** As wide as the flags above. Lines that begin with a space or a mark of a list stay lines. */
function paragraphsIn(text: string, columns: number): string {
  return text
    .replace(/(?<=\S)\n(?=[^\s-])/g, ' ')
    .split('\n')
    .map((line) => wrapColumns(line, columns))
    .join('\n')
}
