import type { Json } from '../../../core/json.ts'
import type { GivenPart } from '../../../core/message.ts'
import type { Waiting } from '../../../core/run.ts'
import type { Answer } from '../../../core/waiting.ts'
import { parseKnown } from '../../../wire/parse.ts'
import { ResumeRequest } from '../../../wire/run.ts'
import { isFields } from './read.ts'

const decisions: Readonly<Record<string, boolean>> = { approve: true, approved: true, deny: false, denied: false }

/**
 * The answers that a message may be for what a task waits for: a data part `{approved, input, answers}`, or a text. For a decision the text
 * is `approve` or `deny`; what is asked for with `input` may be any text, or data. A task that waits for nothing may have had
 * either, so both are given. Empty: it is no answer.
 */
export function readAnswers(parts: readonly GivenPart[], waiting: readonly Waiting[]): Answer[] {
  const isInput = waiting.every(({ kind }) => kind === 'input')
  const data = parts.find((part) => part.type === 'data')
  if (data?.type === 'data') {
    if (isAnswer(data.data)) {
      const { approved, input, answers } = parseKnown(ResumeRequest, data.data)
      return [{ approved, input, answers }]
    }
    return isInput ? [{ input: data.data }] : []
  }
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const word = text.trim().toLowerCase()
  const approved = Object.hasOwn(decisions, word) ? decisions[word] : undefined
  const decision = approved !== undefined && (!isInput || waiting.length === 0) ? [{ approved }] : []
  return isInput ? [...decision, { input: text }] : decision
}

export const howToAnswer =
  'The task is waiting for an answer: send the text "approve" or "deny", or a data part {"approved": true}, {"input": …} or {"answers": {"<call_id>": {…}}}.'

function isAnswer(data: Json): boolean {
  return isFields(data) && ['approved', 'input', 'answers'].some((name) => Object.hasOwn(data, name))
}
