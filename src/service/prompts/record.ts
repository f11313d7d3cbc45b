import { createHash } from 'node:crypto'
import type { ModelCallStart, PromptPiece, PromptRecord } from '../../core/event.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { type FilePart, promptPieces } from '../../core/message.ts'
import { isEnded, isResumable, type RunRecord } from '../../core/run.ts'

/*
 * Turns the prompt of a model call into its record, and back. A session of a thousand runs must not hold its history a thousand
 * times, so the record refers to messages of earlier runs and of the call before. A reference is made only where it gives the
 * same text, so that the prompt is restored byte for byte.
 */

/** The prompt of a model call; each message is a JSON text. */
export interface ToldCall {
  messages: readonly string[]
  tools: string | undefined
  settings: string | undefined
}

/** The messages of a run as providers get them, as JSON; undefined for a run that may still change. */
export type RunTexts = readonly string[] | undefined

export function runTexts(run: RunRecord): RunTexts {
  if (!isEnded(run.status) || isResumable(run)) return undefined
  return run.messages.flatMap(({ role, parts }) => {
    const content = promptPieces(parts).map(toPiece)
    return content.length === 0 ? [] : [JSON.stringify({ role, content })]
  })
}

/** As in a recorded prompt: a file by its name, type and size, or its address. */
function toPiece(piece: string | FilePart): object {
  if (typeof piece === 'string') return { type: 'text', text: piece }
  const { type, media_type: mediaType, name: filename, size, url } = piece
  const about = { type, mediaType, ...(filename !== undefined && { filename }) }
  return size === undefined ? { ...about, data: { type: 'url', url } } : { ...about, size }
}

/** `runs`: those before the run in its session, the latest first. */
export function toPromptRecord(told: ToldCall, before: ToldCall | undefined, runs: readonly RunTexts[]): PromptRecord {
  const { messages } = told
  const pieces: PromptPiece[] = []
  let behind = 0
  for (let index = 0; index < messages.length; ) {
    const from = findText(before?.messages ?? [], messages[index], behind)
    const same = from === -1 ? 0 : countSame(before?.messages ?? [], from, messages, index)
    const earlier = same > 0 ? undefined : longestRuns(runs, messages, index)
    if (same > 0) {
      pieces.push({ same: [from, same] })
      behind = from + same
      index += same
    } else if (earlier !== undefined) {
      pieces.push({ turns: [earlier.first, earlier.last] })
      index += earlier.count
    } else {
      pieces.push({ message: JSON.parse(messages[index] ?? 'null') as Json })
      index++
    }
  }
  const same = (['tools', 'settings'] as const).filter((key) => told[key] !== undefined && told[key] === before?.[key])
  return { pieces, digest: digestOf(messages), ...(same.length === 0 ? {} : { same }) }
}

/** How many earlier runs a reader of this record needs. */
export function runsNeeded({ pieces }: PromptRecord): number {
  return Math.max(0, ...pieces.map((piece) => ('turns' in piece ? piece.turns[0] : 0)))
}

/** Whether the record refers to no earlier call. */
export function isIndependent({ pieces, same }: PromptRecord): boolean {
  return same === undefined && !pieces.some((piece) => 'same' in piece)
}

/** Undefined when the messages that the record refers to have changed. */
export function fromPromptRecord(
  { prompt, tools, settings }: ModelCallStart & { prompt: PromptRecord },
  before: ToldCall | undefined,
  runs: readonly RunTexts[],
): ToldCall | undefined {
  const messages: string[] = []
  for (const piece of prompt.pieces) {
    if ('message' in piece) messages.push(JSON.stringify(piece.message))
    else if ('same' in piece)
      messages.push(...(before?.messages ?? []).slice(piece.same[0], piece.same[0] + piece.same[1]))
    else for (let back = piece.turns[0]; back >= piece.turns[1]; back--) messages.push(...(runs[back - 1] ?? []))
  }
  if (digestOf(messages) !== prompt.digest || (prompt.same !== undefined && before === undefined)) return undefined
  const told = { messages, tools: textOf(tools), settings: textOf(settings) }
  for (const key of prompt.same ?? []) told[key] = before?.[key]
  return told
}

/** The prompt in an emitted event; undefined when it is not a list of messages. */
export function toldIn({ messages, tools, settings }: ModelCallStart): ToldCall | undefined {
  if (!Array.isArray(messages)) return undefined
  return {
    messages: messages.map((message) => JSON.stringify(message)),
    tools: textOf(tools),
    settings: textOf(settings),
  }
}

/** The fields of an event that hold the prompt. */
export function toFields(told: ToldCall): Pick<ModelCallStart, 'messages' | 'tools' | 'settings'> {
  return {
    messages: JSON.parse(`[${told.messages.join(',')}]`) as Json,
    ...(told.tools === undefined ? {} : { tools: JSON.parse(told.tools) as Json }),
    ...(told.settings === undefined ? {} : { settings: JSON.parse(told.settings) as JsonObject }),
  }
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value)
}

function findText(texts: readonly string[], text: string | undefined, from: number): number {
  if (text === undefined) return -1
  const index = texts.indexOf(text, from)
  return index === -1 && from > 0 ? texts.indexOf(text) : index
}

function countSame(a: readonly string[], from: number, b: readonly string[], at: number): number {
  let count = 0
  while (from + count < a.length && at + count < b.length && a[from + count] === b[at + count]) count++
  return count
}

/** The longest sequence of whole runs whose messages stand here. */
function longestRuns(runs: readonly RunTexts[], messages: readonly string[], start: number) {
  let longest: { first: number; last: number; count: number } | undefined
  for (const [index, texts] of runs.entries()) {
    if (texts?.[0] === undefined || texts[0] !== messages[start]) continue
    const found = runsFrom(runs, index + 1, messages, start)
    if (found !== undefined && found.count > (longest?.count ?? 0)) longest = found
  }
  return longest
}

function runsFrom(runs: readonly RunTexts[], first: number, messages: readonly string[], start: number) {
  let last: number | undefined
  let count = 0
  for (let back = first; back >= 1; back--) {
    const texts = runs[back - 1]
    if (texts === undefined || countSame(texts, 0, messages, start + count) < texts.length) break
    count += texts.length
    last = back
  }
  return last === undefined ? undefined : { first, last, count }
}

function digestOf(messages: readonly string[]): string {
  const hash = createHash('sha256')
  for (const message of messages) hash.update(message).update('\n')
  return hash.digest('base64url').slice(0, 22)
}
