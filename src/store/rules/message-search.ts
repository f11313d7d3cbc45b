import { invalidCursor } from '../../core/error.ts'
import type { Page } from '../../core/page.ts'
import {
  findWords,
  type MessageHit,
  type MessageSearch,
  messageText,
  piecesOf,
} from '../../core/text/message-search.ts'
import { wordsOf } from '../../core/text/terms.ts'
import { Pace } from '../../runtime/yield.ts'
import type { MessageRow } from '../sessions/rows/rows.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'

/** What drivers with an index of words have in common. The index names runs; every match is looked up in their messages. */

/** Runs that one page reads at most, so that a strict filter does not make it slow. */
const runsPerPage = 5_000
const runsAtOnce = 100

/** Where a page begins: after this message of this run. */
export interface SearchPosition {
  run: number
  message: number
}

export interface SearchedRun {
  number: number
  run_id: string
  session_id: string
  entity_id: string
  isReplaced: boolean
  said: MessageRow[]
}

export interface SearchIndex {
  /** The newest runs that may have all words of the search, from a number down. */
  find(from: number, limit: number): Promise<number[]>
  /** Those of the runs that are in the requested sessions, in the same order. */
  read(numbers: readonly number[]): AsyncIterable<SearchedRun>
}

/** Throws `invalid_request` for anything that `searchPage` did not give. */
export function toPosition(cursor: string | undefined): SearchPosition {
  const after = decodeCursor(cursor)
  if (after === undefined) return { run: Number.MAX_SAFE_INTEGER, message: 0 }
  const [, run, message] = /^(\d{1,15})\.(\d{1,9})$/.exec(after.id) ?? []
  if (after.time === '' && run !== undefined) return { run: Number(run), message: Number(message) }
  throw invalidCursor()
}

export async function searchPage(
  index: SearchIndex,
  { words }: Pick<MessageSearch, 'words'>,
  limit: number,
  from: SearchPosition,
): Promise<Page<MessageHit>> {
  const pace = new Pace()
  const hits: { hit: MessageHit; place: SearchPosition }[] = []
  let next = from.message > 0 ? from.run : from.run - 1
  for (let looked = 0; looked < runsPerPage; looked += runsAtOnce) {
    const numbers = await index.find(next, runsAtOnce)
    for await (const run of index.read(numbers)) {
      for (const [message, row] of [...run.said.entries()].reverse()) {
        if (run.number === from.run && message >= from.message) continue
        const [messageId, role, parts, createdAt, mark] = row
        if (mark !== undefined) continue
        const snippet = await pace.through(findWords(messageText(parts), words))
        if (snippet === undefined) continue
        const { run_id, session_id, entity_id } = run
        const where = { session_id, run_id, message_id: messageId, entity_id, role, created_at: createdAt, snippet }
        const hit: MessageHit = run.isReplaced ? { ...where, replaced: true } : where
        hits.push({ hit, place: { run: run.number, message } })
        if (hits.length > limit) return toPage(hits.slice(0, limit), hits[limit - 1]?.place)
      }
    }
    if (numbers.length < runsAtOnce) return toPage(hits, undefined)
    next = (numbers.at(-1) as number) - 1
  }
  return toPage(hits, { run: next + 1, message: 0 })
}

function toPage(hits: { hit: MessageHit }[], place: SearchPosition | undefined): Page<MessageHit> {
  const next = place && encodeCursor({ time: '', id: `${place.run}.${place.message}` })
  return { items: hits.map(({ hit }) => hit), next: next ?? null }
}

/** The words by which a run is found, with the term of its session. */
export async function searchedWords(
  sessionId: string,
  said: readonly MessageRow[],
  pace: Pace,
): Promise<ReadonlySet<string>> {
  const words = new Set([sessionTerm(sessionId)])
  for (const [, , parts, , mark] of said) {
    if (mark !== undefined) continue
    for (const { text } of piecesOf(messageText(parts))) {
      for (const word of wordsOf(text)) words.add(word)
      await pace.step()
    }
  }
  await pace.step()
  return words
}

/** A session's id as a term that no word can equal. */
export function sessionTerm(sessionId: string): string {
  return `:${sessionId}`
}
