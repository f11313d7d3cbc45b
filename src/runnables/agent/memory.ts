import type { ModelMessage } from 'ai'
import { type FilePart, type Message, type Part, promptText } from '../../core/message.ts'
import type { RunContext } from '../../core/runnable.ts'
import type { ModelFiles } from '../files/model-files.ts'
import { historyMessages } from '../model/prompt.ts'
import type { CheckedMemory } from './schema.ts'

const charactersPerToken = 4
/** Messages that were recorded while the summary was written are repeated rather than lost. */
const overlapMs = 1000

/** The session for a model: its summary and the newest runs since that fit the budget, each whole; or the caller's history. */
export async function remember(memory: CheckedMemory, context: RunContext, files: ModelFiles): Promise<ModelMessage[]> {
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
  return [...told, ...(await historyMessages(withoutOldFiles(interactions.slice(first).flat()), files))]
}

/** About a token per four characters: exact enough for a budget, and the same for every model. */
function tokensOf(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}

function costOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { parts }) => sum + tokensOf(promptText(parts)) + tokensOfFiles(parts), 0)
}

const tokensPerFile = 1_000
const bytesPerToken = 40

/** An image costs 1,000 tokens, text as much as any text, another file a token per 40 bytes but at least 1,000. */
function tokensOfFiles(parts: readonly Part[]): number {
  let tokens = 0
  for (const part of parts) {
    if (part.type !== 'file') continue
    const { media_type: type, size = 0 } = part
    if (type.startsWith('text/')) tokens += Math.ceil(size / charactersPerToken)
    else if (type.startsWith('image/')) tokens += tokensPerFile
    else tokens += Math.max(tokensPerFile, Math.ceil(size / bytesPerToken))
  }
  return tokens
}

/** Providers accept requests of about this size. */
const mostFileBytes = 20 * 1024 * 1024

/** Names the older files of a history in place of their content when all of them are more than a model can get. */
function withoutOldFiles(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(({ parts }) => parts.some(({ type }) => type === 'file'))) return messages
  let left = mostFileBytes
  const isLeftOut = (part: FilePart) => {
    left -= part.size ?? 0
    return left < 0
  }
  return messages
    .toReversed()
    .map((message) => {
      const parts = message.parts.map((part) =>
        part.type === 'file' && isLeftOut(part) ? ({ type: 'text', text: nameOf(part) } as const) : part,
      )
      return { ...message, parts }
    })
    .reverse()
}

function nameOf({ name, media_type: type }: FilePart): string {
  return `[An earlier file is left out: ${name ?? 'without a name'}, ${type}]`
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
