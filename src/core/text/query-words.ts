import { wordsOf } from './terms.ts'

const stopWords = new Set(
  `a about after all also am an and any are as at be because been before being between both but by can could did do
  does doing during each few for from further get had has have having he her here hers him his how i if in into is it
  its just know let like may me might more most must my need no nor not of off on once only or other our out over own
  please same say says shall she should so some such tell than that the their them then there these they this those
  through to too under until up us very want was way we were what when where which while who whom whose why will with
  would you your`.split(/\s+/),
)

/** The distinct words of a query, without question and stop words unless there are no others. */
export function queryWordsOf(query: string): string[] {
  const words = [...new Set(wordsOf(query))]
  const telling = words.filter((word) => !stopWords.has(word))
  return telling.length > 0 ? telling : words
}
