import { isDeepStrictEqual } from 'node:util'
import type { GivenPart, Part } from '../../core/message.ts'
import { isWithheld } from '../../core/refusal.ts'
import type { RunRecord } from '../../core/run.ts'
import type { AgentFiles, ChildInput } from '../../core/runnable.ts'
import { wrong } from '../../schema/check.ts'
import { isObject, show } from '../../schema/field.ts'
import { toExactJson } from './json-value.ts'

/** The question as the input of a run. Throws `invalid_request` for anything but text or parts. */
export function toQuestion(name: string, question: unknown): ChildInput {
  if (typeof question === 'string') return { parts: [{ type: 'text', text: question }], text: question }
  if (!Array.isArray(question)) {
    throw wrong(name, `ask('${name}') needs a text or a list of parts as its question, not ${show(question)}`)
  }
  const parts = question.map((part) => toPart(name, part))
  return { parts, text: parts.map((part) => (part.type === 'text' ? part.text : '')).join('') }
}

function toPart(name: string, part: unknown): GivenPart {
  if (isObject(part)) {
    if (part.type === 'text' && typeof part.text === 'string') return { type: 'text', text: part.text }
    if (part.type === 'file' && typeof part.media_type === 'string') return part as unknown as GivenPart
    const data =
      part.type === 'data'
        ? toExactJson(part.data, (why) => `ask('${name}') got data that can't be recorded: ${why}.`)
        : undefined
    if (data !== undefined) return { type: 'data', data }
  }
  throw wrong(
    name,
    `ask('${name}') got ${show(part)} as a part; a part is { type: 'text', text }, a data or a file part`,
  )
}

/** Whether a recorded run was asked this. A withheld question counts as the same. */
export async function wasAsked(run: RunRecord, { parts }: ChildInput, files: AgentFiles): Promise<boolean> {
  const recorded = run.messages[0]?.parts ?? []
  if (isWithheld(run)) return true
  if (recorded.length !== parts.length) return false
  for (const [place, part] of recorded.entries()) if (!(await isSamePart(part, parts[place], files))) return false
  return true
}

/** A file is compared by what is the same before and after it is stored, and by its content. */
export async function isSamePart(recorded: Part, given: GivenPart | undefined, files: AgentFiles): Promise<boolean> {
  if (recorded.type !== 'file' || given?.type !== 'file') return isDeepStrictEqual(recorded, given)
  if (recorded.media_type !== given.media_type || recorded.name !== given.name) return false
  if (!('data' in given))
    return given.file_id === undefined ? recorded.url === given.url : recorded.file_id === given.file_id
  const bytes = typeof given.data === 'string' ? Buffer.from(given.data, 'base64') : given.data
  if (!(bytes instanceof Uint8Array) || recorded.size !== bytes.byteLength) return false
  return Buffer.compare(bytes, await files.read(recorded)) === 0
}
