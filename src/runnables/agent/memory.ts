import type { ModelMessage } from 'ai'
import { type Message, promptText } from '../../core/message.ts'
import type { RunContext } from '../../core/runnable.ts'
import { historyMessages } from '../model/prompt.ts'
import type { CheckedMemory } from './schema.ts'

const charactersPerToken = 4
/** Messages that were recorded while the summary was written are repeated rather than lost. */
const overlapMs = 1000

/** The session for a model: its summary and the newest runs since that fit the budget, each whole; or the caller's history. */
export async function remember(memory: CheckedMemory, context: RunContext): Promise<ModelMessage[]> {
  const { runs, tokens, summary: wanted } = memory
  const summary = wanted ? await context.summary() : undefined
  const isCallers = context.given?.history !== undefined
  let interactions = byTurn(runs === 0 && !isCallers ? [] : await context.history(isCallers ? Infinity : runs))
  let left = tokens
  const told: ModelMessage[] = []
  if (summary !== undefined && summary.content !== '') {
    const content = `Summary of the conversation so far:\n${summary.content}`
    if (tokensOf(content) <= left) {
      left -= tokensOf(content)
      told.push({ role: 'user', content })
      const since = new Date(Date.parse(summary.created_at) - overlapMs).toISOString()
      interactions = interactions.filter((messages) => messages.some((message) => message.created_at >= since))
    }
  }
  let first = interactions.length
  while (first > 0) {
    const cost = costOf(interactions[first - 1] ?? [])
    if (cost > left) break
    left -= cost
    first--
  }
  return [...told, ...historyMessages(interactions.slice(first).flat())]
}

/** About a token per four characters: exact enough for a budget, and the same for every model. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}

function costOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { parts }) => sum + tokensOf(promptText(parts)), 0)
}

function byTurn(history: readonly Message[]): Message[][] {
  const interactions: Message[][] = []
  for (const message of history) {
    const latest = interactions.at(-1)
    if (message.role === 'assistant' && latest?.[0]?.run_id === message.run_id) latest.push(message)
    else interactions.push([message])
  }
  return interactions
}
