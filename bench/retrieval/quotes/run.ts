import { parseArgs } from 'node:util'
import { findQuotes } from '../../../src/models/quote.ts'
import { around } from '../../../src/runnables/agent/around.ts'
import { type Counts, measureQuotes, type Quoting } from './measure.ts'

/*
 * What is quoted for a question, and for one about another product: `node bench/retrieval/quotes/run.ts [set…]`. `--misses` shows
 * what was quoted instead.
 */

export const asTheProgram: Quoting = async (question, search, knowledge) => {
  const { results, trace } = await search(question)
  const { quotes } = await findQuotes(question, results, { fit: trace?.fit, widen: around(knowledge) })
  return quotes.map(({ hit: { source }, line }) => ({ source, line }))
}

if (import.meta.main) {
  const { values, positionals: only } = parseArgs({ options: { misses: { type: 'boolean' } }, allowPositionals: true })
  const note = (line: string) => {
    if (values.misses) console.log(line)
  }
  const figures = await measureQuotes(asTheProgram, only.length === 0 ? undefined : only, note)
  const row = ({ questions, right, first, wrong, silent }: Counts) =>
    `${right}/${first}/${wrong}/${silent} of ${questions}`.padEnd(22)
  console.log('set          questions: right/first/wrong/silent   headings               of other products: answered')
  for (const { name, tuned, plain, headings, foreign } of figures) {
    const share = `${foreign.answered} of ${foreign.questions}`
    console.log(
      `${name.padEnd(12)} ${row(plain)}                 ${row(headings)} ${share}${tuned ? ' (tuned by it)' : ''}`,
    )
  }
}
