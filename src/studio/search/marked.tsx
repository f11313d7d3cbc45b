import type { JSX } from 'preact'
import type { MessageHit } from '../../wire/message.ts'

/** The text of a hit, with the words marked for which the server has found it. */
export function Marked({ snippet, marks }: Pick<MessageHit, 'snippet' | 'marks'>): JSX.Element {
  return (
    <>
      {marks.map(({ start, end }, place) => [
        snippet.slice(marks[place - 1]?.end ?? 0, start),
        <mark key={start}>{snippet.slice(start, end)}</mark>,
      ])}
      {snippet.slice(marks.at(-1)?.end ?? 0)}
    </>
  )
}
