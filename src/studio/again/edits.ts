import type { Json } from '../../core/json.ts'
import type { AgainRequest } from '../../wire/again.ts'

/** What the form has; absent: as it was. */
export interface Fields {
  input?: string
  instructions?: string
  model?: string
  temperature?: string
  output?: string
  /** Chunks that are left out. */
  drop: readonly string[]
  after: 'ask' | 'recorded' | 'live'
}

interface Before {
  input: string
  output: Json | undefined
  /** What it runs from is a tool call. */
  isTool: boolean
}

/** The request that makes the changes, and no others. Throws when the output is no JSON where there was some. */
export function requestOf(fields: Fields, from: number | undefined, before: Before, times: number): AgainRequest {
  const { input, instructions, model, temperature, output, drop, after } = fields
  const edit: NonNullable<AgainRequest['edit']> = {
    ...(from === undefined && input !== undefined && input !== before.input && { input }),
    ...(instructions?.trim() && { instructions }),
    ...(model?.trim() && { model: model.trim() }),
    ...(temperature && { settings: { temperature: Number(temperature) } }),
    ...(output !== undefined && before.isTool && { tool_output: outputOf(output, before.output) }),
    ...(drop.length > 0 && { passages: { drop: [...drop] } }),
  }
  const hasEdit = Object.keys(edit).length > 0
  return { ...(from !== undefined && { from }), ...(hasEdit && { edit }), after, times, keep: 'no' }
}

/** A text stays one; all else is JSON. */
function outputOf(text: string, before: Json | undefined): Json {
  if (typeof before === 'string' || before === undefined) return text
  try {
    return JSON.parse(text) as Json
  } catch {
    throw new Error('The output of the tool is no JSON. Mend it, or put a text in quotes.')
  }
}
