import type { JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { areMark } from '../../core/refusal.ts'
import type { SessionOverview, SessionOwners } from '../../core/session.ts'
import { titleOf } from '../../core/text/title.ts'

/** Characters of an input's JSON that are read for a title. */
export const titleCharacters = 8_192

/** Longer data has no title: of an input that is much larger only the beginning is read. */
const longestData = 4_096

/** Of the first part with text that is not blank, or else the name of the first file that has one, or else the first data as JSON. */
export function titleOfParts(parts: readonly Part[]): string | null {
  if (areMark(parts)) return null
  let name: string | null = null
  let data: string | null = null
  for (const part of parts) {
    const title = part.type === 'text' ? titleOf(part.text) : null
    if (title !== null) return title
    if (part.type === 'file') name ??= titleOf(part.name ?? '')
    else if (part.type === 'data') data ??= JSON.stringify(part.data)
  }
  return name ?? (data !== null && data.length <= longestData ? titleOf(data) : null)
}

/** The same from the beginning of the JSON of messages, as rows of id, role and parts. */
export function titleOfJson(begin: string, isWhole: boolean): string | null {
  return titleOfParts(isWhole ? partsIn(begin) : partsOfCut(begin))
}

function partsIn(json: string): Part[] {
  const [message] = JSON.parse(json) as [id: string, role: string, parts: Part[]][]
  return message?.[2] ?? []
}

/** The parts that are complete, and the one that was cut, when the cut is in its text. */
function partsOfCut(begin: string): Part[] {
  const open: string[] = []
  let isText = false
  let complete = 0
  let at = 0
  for (; at < begin.length; at++) {
    const sign = begin[at]
    if (isText) {
      if (sign === '\\') at++
      else if (sign === '"') isText = false
    } else if (sign === '"') isText = true
    else if (sign === '{') open.push('}')
    else if (sign === '[') open.push(']')
    else if ((sign === '}' || sign === ']') && open.pop() === '}' && open.length === 3) complete = at + 1
    // The parts of the first message are at an end.
    if (open.length === 1 && complete > 0) break
  }
  const whole = complete === 0 ? [] : partsIn(`${begin.slice(0, complete)}]]]`)
  if (!isText) return whole
  const text = (at > begin.length ? begin.slice(0, -1) : begin).replace(/\\u[0-9a-f]{0,3}$/i, '')
  try {
    return partsIn(`${text}"${open.reverse().join('')}`)
  } catch {
    // The cut is in a key.
    return whole
  }
}

/** What a fork noted in its metadata; null for anything else that a caller may have put there. */
export function forkedFrom(noted: unknown): SessionOverview['forked_from'] {
  if (typeof noted !== 'object' || noted === null || Array.isArray(noted)) return null
  const { session_id, run_id = null } = noted as JsonObject
  if (typeof session_id !== 'string' || (run_id !== null && typeof run_id !== 'string')) return null
  return { session_id, run_id }
}

/** Of a session without turns. */
export function ownerOf(owners: SessionOwners): Pick<SessionOverview, 'entity_id' | 'entity_kind'> {
  for (const kind of ['agent', 'team', 'workflow'] as const) {
    const id = owners[`${kind}_id`]
    if (id !== null) return { entity_id: id, entity_kind: kind }
  }
  return { entity_id: null, entity_kind: null }
}
