import type { Json } from '../../../core/json.ts'
import type { Question } from '../../runs/activity.ts'
import { inputOf } from '../../runs/waiting.ts'
import type { CallAnswer, ResumedTurn } from './turn.ts'

/** A question with the answer that the user typed. */
export interface Answered {
  question: Question
  answer: CallAnswer
}

/** Undefined for text that is no decision. */
export function readAnswer(text: string, { wants, schema }: Question): CallAnswer | undefined {
  if (wants !== 'approval') return { input: inputOf(text, schema) as Json }
  const word = /^(y|yes|n|no)\b[\s,:]*/i.exec(text)
  if (word === null) return undefined
  const approved = /^y/i.test(text)
  const reason = text.slice(word[0].length)
  return reason === '' ? { approved } : { approved, reason }
}

/** `answers` only where the fields that every server knows can't say it. */
export function toAnswer(answered: readonly Answered[]): NonNullable<ResumedTurn['answer']> {
  const [first] = answered
  if (answered.length === 1 && first !== undefined) {
    const { question, answer } = first
    const { approved, reason, input = reason } = answer
    const { callId } = question
    return {
      ...(approved === undefined || callId === undefined ? {} : { approved: { [callId]: approved } }),
      ...(input === undefined ? {} : { input }),
    }
  }
  const byId = answered.map(({ question, answer }) => [question.callId ?? '', answer] as const)
  if (answered.every(({ answer }) => answer.approved !== undefined && answer.reason === undefined))
    return { approved: Object.fromEntries(byId.map(([id, { approved }]) => [id, approved === true])) }
  const unnamed = answered.find(({ question }) => question.callId === undefined)?.answer.input
  return {
    answers: Object.fromEntries(byId.filter(([id]) => id !== '')),
    ...(unnamed === undefined ? {} : { input: unnamed }),
  }
}
