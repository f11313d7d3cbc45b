import type { Json, JsonObject } from '../../core/json.ts'
import type { AgainRequest } from '../../wire/again.ts'
import { searchOf } from '../state/search-of.ts'
import { toText } from './compare.ts'

export const settings = ['temperature', 'topP', 'topK', 'maxOutputTokens', 'seed'] as const

/** How the run was. */
export interface Before {
  input: string
  instructions: string
  /** Of the tool call that it runs from. */
  output: Json | undefined
  /** The ids of the passages that the form has. */
  passages: readonly string[]
}

/** The request that makes the changes of the form, and no others. Throws for what should be JSON and is none. */
export function requestOf(form: FormData, from: number | undefined, before: Before): AgainRequest {
  const textOf = (name: string) => String(form.get(name) ?? '').trim()
  /** A browser gives each end of a line as `\n`. */
  const changed = (name: string, was: string) => {
    const text = form.get(name)
    return typeof text === 'string' && text !== was.replaceAll(/\r\n?/g, '\n') ? text : undefined
  }
  const [input, instructions, output] = [
    changed('input', before.input),
    changed('instructions', before.instructions),
    changed('output', toText(before.output)),
  ]
  const kept = form.getAll('passage')
  const drop = before.passages.filter((id) => !kept.includes(id))
  // Without the chunks alone, the recorded search; else it is made anew.
  const passages = { ...searchOf(Object.fromEntries(form)), ...(drop.length > 0 && { drop }) }
  const numbers = settings.flatMap((name) => (textOf(name) === '' ? [] : [[name, Number(textOf(name))]]))
  const edit: NonNullable<AgainRequest['edit']> = {}
  if (from === undefined && input !== undefined) edit.input = input
  if (instructions?.trim()) edit.instructions = instructions
  if (textOf('model')) edit.model = textOf('model')
  if (numbers.length > 0) edit.settings = Object.fromEntries(numbers)
  if (output !== undefined) edit.tool_output = outputOf(output, before.output)
  if (Object.keys(passages).length > 0) edit.passages = passages
  if (form.has('messages')) edit.messages = messagesOf(textOf('messages'))
  return {
    ...(from !== undefined && { from }),
    ...(Object.keys(edit).length > 0 && { edit }),
    after: textOf('after') as 'ask',
    times: Number(textOf('times')),
    keep: 'no',
  }
}

function messagesOf(text: string): JsonObject[] {
  const messages = parsed(text)
  if (Array.isArray(messages)) return messages as JsonObject[]
  throw new Error('The messages are no list in JSON.')
}

/** A text stays one; all else is JSON. */
function outputOf(text: string, before: Json | undefined): Json {
  if (typeof before === 'string' || before === undefined) return text
  const output = parsed(text)
  if (output !== undefined) return output
  throw new Error('The output of the tool is no JSON. Put a text in quotes.')
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
