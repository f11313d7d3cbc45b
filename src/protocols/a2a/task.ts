import type { FilePart, Message } from '../../core/message.ts'
import type { Run, RunRecord } from '../../core/run.ts'
import type { A2AMessage, A2ATask } from '../../wire/protocols/a2a.ts'
import { explainEnd } from '../explain-end.ts'
import type { SentFile } from '../files.ts'
import { toWireMessage } from './message.ts'

/** The files of the answer. */
export function answerFiles({ messages }: RunRecord): FilePart[] {
  const parts = messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []))
  return parts.filter((part) => part.type === 'file')
}

/** The ended run as a task. If it did not complete, it is `failed`, and a last message says why. `contents`: its files. */
export function toTask(run: RunRecord, contents: ReadonlyMap<FilePart, SentFile> = new Map()): A2ATask {
  const messages: A2AMessage[] = []
  for (const message of run.messages) {
    if (message.role === 'assistant') messages.push(toWireMessage(message, run.entity_id, run.session_id, contents))
  }
  const completed = run.status === 'completed'
  if (!completed) messages.push(toWireMessage(closingMessage(run, explainEnd(run)), run.entity_id, run.session_id))
  else if (messages.length === 0) messages.push(toWireMessage(closingMessage(run, ''), run.entity_id, run.session_id))
  return { taskId: run.run_id, status: completed ? 'completed' : 'failed', messages }
}

// It is not recorded, so its id is derived from the run's id to be the same on every request.
function closingMessage(run: Run, text: string): Message {
  return {
    message_id: `msg_end_${run.run_id}`,
    run_id: run.run_id,
    role: 'assistant',
    parts: text === '' ? [] : [{ type: 'text', text }],
    content: text,
    created_at: run.completed_at ?? run.created_at,
  }
}
