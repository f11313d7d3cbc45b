import type { AssistantContent, ModelMessage, UserContent } from 'ai'
import { type Message, type Part, promptPieces, promptText } from '../../core/message.ts'
import type { ModelFiles } from '../files/model-files.ts'

/** A session's earlier messages for the model, without the empty ones of runs that gave no output. */
export async function historyMessages(history: readonly Message[], files: ModelFiles): Promise<ModelMessage[]> {
  const messages: ModelMessage[] = []
  for (const { role, parts, run_id: runId } of history) {
    const content = await promptContent(parts, files, { runId })
    if (content !== '') messages.push({ role, content } as ModelMessage)
  }
  return messages
}

/** The parts of a message for the model: a text, or texts and files in order. `before`: a text in front. */
export async function promptContent(
  parts: readonly Part[],
  files: ModelFiles,
  { runId, before }: { runId?: string; before?: string | undefined } = {},
): Promise<UserContent & AssistantContent> {
  if (!parts.some(({ type }) => type === 'file'))
    return before === undefined ? promptText(parts) : `${before}\n\n${promptText(parts)}`
  const pieces = promptPieces(parts).map(async (piece) =>
    typeof piece === 'string' ? { type: 'text' as const, text: piece } : files.toSdk(piece, runId),
  )
  const content = await Promise.all(pieces)
  return before === undefined ? content : [{ type: 'text', text: before }, ...content]
}
