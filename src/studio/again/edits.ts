import { type Json, toText } from '../../core/json.ts'
import type { AgainRequest } from '../../wire/again.ts'
import { searchOf } from '../state/address/search-of.ts'

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

/** The request that makes the changes of the form: no others are in its JSON. Throws for what should be JSON and is none. */
export function requestOf(form: FormData, from: number | undefined, before: Before): AgainRequest {
  const textOf = (name: string) => String(form.get(name) ?? '').trim()
  /** A browser gives each end of a line as `\n`. */
  const changed = (name: string, was: string) => {
    const text = form.get(name)
    return typeof text === 'string' && text !== was.replaceAll(/\r\n?/g, '\n') ? text : undefined
  }
  const kept = form.getAll('passage')
  const drop = before.passages.filter((id) => !kept.includes(id))
  const output = changed('output', toText(before.output))
  const edit = {
    input: from === undefined ? changed('input', before.input) : undefined,
    instructions: changed('instructions', before.instructions)?.trim() || undefined,
    model: textOf('model') || undefined,
    settings: unlessEmpty(
      Object.fromEntries(settings.flatMap((name) => (textOf(name) === '' ? [] : [[name, Number(textOf(name))]]))),
    ),
    messages: form.has('messages') ? readJson(textOf('messages'), 'The messages are no list in JSON.') : undefined,
    // A text stays one; all else is JSON.
    tool_output:
      output === undefined || before.output === undefined || typeof before.output === 'string'
        ? output
        : readJson(output, 'The output of the tool is no JSON. Put a text in quotes.'),
    // Without the chunks alone, the recorded search; else it is made anew.
    passages: unlessEmpty({ ...searchOf(Object.fromEntries(form)), ...(drop.length > 0 && { drop }) }),
  }
  return {
    from,
    edit: edit as NonNullable<AgainRequest['edit']>,
    after: textOf('after') as 'ask',
    times: Number(textOf('times')),
  }
}

function unlessEmpty<Value extends object>(value: Value): Value | undefined {
  return Object.keys(value).length > 0 ? value : undefined
}

function readJson(text: string, problem: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(problem)
  }
}
