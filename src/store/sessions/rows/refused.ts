import { filesIn } from '../../../core/message.ts'
import { refusedParts, withoutInput } from '../../../core/refusal.ts'
import type { RunGiven } from '../../../core/run.ts'
import type { MessageRow } from './rows.ts'

/* What remains of stored rows of a run whose input was refused. */

/** The content of `input`. */
export function refusedInput(input: readonly MessageRow[]): MessageRow[] {
  return input.map(([id, role, , createdAt]) => [id, role, refusedParts(), createdAt])
}

/** The ids of the files that the input names, or what the caller gave with it. */
export function filesOfInput(input: readonly MessageRow[], given: RunGiven | null): string[] {
  const history = given?.history?.map(({ parts }) => parts) ?? []
  return [...input.map(([, , parts]) => parts), ...history].flatMap(filesIn)
}

/** Undefined when the batch contains nothing of the input. */
export function refusedBatch(batch: string, goesOn: boolean): string | undefined {
  const events = JSON.parse(batch) as Parameters<typeof withoutInput>[0][]
  const kept = events.map((event) => withoutInput(event, goesOn))
  return kept.every((event, place) => event === events[place]) ? undefined : JSON.stringify(kept)
}
