import { asCalled } from '../terminal/called-as.ts'
import { guides } from './guides.ts'

export function helpAfter(name: string): string {
  const guide = guides[name]
  if (guide === undefined) return ''
  const more = guide.page === undefined ? '' : `\n\nMore: docs/${guide.page}.md`
  const examples = guide.examples.map((example) => `  $ ${example}`).join('\n')
  return asCalled(`\n${guide.details.replaceAll('`', '')}\n\nExamples:\n${examples}${more}`)
}
