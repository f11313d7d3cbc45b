import type { JSX } from 'preact'
import { searchWordsOf } from '../../core/text/message-search.ts'
import { shortWordsOf } from '../../core/text/short-words.ts'

/** The text, with those of its words marked for which the server has found it. */
export function Marked({ text, query }: { text: string; query: string }): JSX.Element {
  const wanted = searchWordsOf(query)
  const isWanted = (token: string) =>
    shortWordsOf(token).some((word) =>
      wanted.some((one) => (one.isBeginning ? word.startsWith(one.word) : word === one.word)),
    )
  const pieces: (string | JSX.Element)[] = []
  let end = 0
  for (const { 0: token, index } of text.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)) {
    if (!isWanted(token)) continue
    pieces.push(text.slice(end, index), <mark key={index}>{token}</mark>)
    end = index + token.length
  }
  return (
    <>
      {pieces}
      {text.slice(end)}
    </>
  )
}
