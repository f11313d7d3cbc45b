import { invalid } from '../../../core/error.ts'
import { type GivenPart, promptText, type Role } from '../../../core/message.ts'
import { isTurn } from '../../../core/run.ts'
import type { OpenAIServices } from '../openai.ts'
import { echoOf } from './echo.ts'
import { unlessMissing } from './find.ts'
import type { InputTurn } from './input.ts'
import { runOfItem } from './item-id.ts'

const mostReferences = 1000

/** What was said before, with what the caller names by id. Of a response that is named more than once the answer comes once. */
export async function withReferences(
  { runs }: Pick<OpenAIServices, 'runs'>,
  turns: readonly InputTurn[],
): Promise<{ role: Role; parts: GivenPart[] }[]> {
  const told: { role: Role; parts: GivenPart[] }[] = []
  const seen = new Set<string>()
  for (const turn of turns) {
    if ('role' in turn) {
      told.push(turn)
      continue
    }
    const { reference, path } = turn
    // Reasoning, calls and approvals say nothing to another agent.
    if (!reference.startsWith('msg_') && runOfItem(reference) !== undefined) continue
    const runId = runOfItem(reference)
    const name = reference.includes('_input_') ? reference : (runId ?? '')
    if (seen.has(name)) continue
    if (seen.size === mostReferences) throw invalid(`input names more than ${mostReferences} responses.`, path)
    const run = runId === undefined ? undefined : await unlessMissing(runs.get(runId))
    if (run === undefined || !isTurn(run) || !echoOf(run).store) {
      throw invalid(`There is no item '${reference.slice(0, 100)}'. Send the message itself.`, path)
    }
    seen.add(name)
    const said = reference.includes('_input_') ? 'user' : 'assistant'
    const text = promptText(run.messages.flatMap(({ role, parts }) => (role === said ? parts : [])))
    if (text !== '') told.push({ role: said, parts: [{ type: 'text', text }] })
  }
  return told
}
