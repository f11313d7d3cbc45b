import { filesIn } from '../../../core/message.ts'
import { refuseGiven, refuseMessage, withoutInput } from '../../../core/refusal.ts'
import { isEnded } from '../../../core/run.ts'
import { refuseWaiting } from '../../../core/waiting.ts'
import { deleteFiles } from './files.ts'
import type { FileRow, MemoryState, RunRow } from './rows.ts'

/** Removes the input of these runs and their child runs from messages, events and cached answers, with what the caller gave. */
export function refuseRuns(state: MemoryState, runIds: readonly string[]): void {
  for (const runId of runIds) {
    const row = state.runs.get(runId)
    if (row === undefined) continue
    const named = new Set(row.record.messages.flatMap(({ role, parts }) => (role === 'user' ? filesIn(parts) : [])))
    for (const id of filesIn(row.unchecked?.parts ?? [])) named.add(id)
    for (const { parts } of row.record.given?.history ?? []) for (const id of filesIn(parts)) named.add(id)
    const isInput = (file: FileRow['file']) => file.run_id === runId && (file.url !== null || named.has(file.file_id))
    deleteFiles(state, isInput, row.record.session_id)
    refuse(row)
    for (const [key, answer] of state.answers) if (answer.run_id === runId) state.answers.delete(key)
    const inside = state.sessions.get(row.record.session_id)?.runs ?? []
    refuseRuns(
      state,
      inside.filter(({ record }) => record.parent_run_id === runId).map(({ record }) => record.run_id),
    )
  }
}

function refuse(row: RunRow): void {
  const { record } = row
  const goesOn = !isEnded(record.status) || record.status === 'input_required'
  record.messages = record.messages.map((message) => (message.role === 'user' ? refuseMessage(message) : message))
  record.given = refuseGiven(record.given, goesOn)
  record.waiting = refuseWaiting(record.waiting)
  row.unchecked = undefined
  row.events = row.events.map((event) => withoutInput(event, goesOn))
}
