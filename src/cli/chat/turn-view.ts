import type { Client } from '../../client/client.ts'
import type { Cost, Usage } from '../../core/run.ts'
import type { TurnEnd, TurnEvent } from '../runs/activity.ts'
import { formatCost } from '../runs/cost.ts'
import { formatSource } from '../runs/source-line.ts'
import { formatDuration } from '../terminal/duration.ts'
import { fileAsMarkdown } from '../terminal/message-text.ts'
import type { ChatScreen } from './screen.ts'
import { TurnDetails } from './turn/details.ts'

/** Shows the events of one turn on the screen as they come, and keeps what is folded. */
export class TurnView {
  readonly details: TurnDetails
  readonly #screen: ChatScreen

  constructor(screen: ChatScreen, details = new TurnDetails()) {
    this.#screen = screen
    this.details = details
  }

  async show(event: Exclude<TurnEvent, { type: 'question' | 'end' | 'started' }>): Promise<void> {
    const screen = this.#screen
    if (event.type === 'reasoning') {
      this.details.take(event, Date.now())
      screen.reason(event.text)
      return
    }
    if (event.type !== 'connection' && (event.type !== 'text' || event.text !== '')) this.fold()
    this.details.take(event, Date.now())
    if (event.type === 'text') await screen.text(event.text)
    else if (event.type === 'file') await screen.text(`\n\n${fileAsMarkdown(event.file)}\n\n`)
    else if (event.type === 'tool_call') screen.startWork(event.callId, `${event.name} ${event.input}`)
    else if (event.type === 'tool_progress') screen.tellProgress(event.callId, event.output)
    else if (event.type === 'step_start') screen.startWork(event.stepId, event.name)
    else if (event.type === 'tool_result') {
      this.#worked(screen.endWork(event.callId) ?? event.name, event.durationMs, event.error)
    } else if (event.type === 'step_end') {
      const failure = event.error ?? (event.status === 'completed' ? undefined : event.status)
      this.#worked(screen.endWork(event.stepId) ?? 'step', event.durationMs, failure)
    } else if (event.type === 'model_call') screen.startCall(event.model)
    else if (event.type === 'usage') screen.endCall(event.usage.output_tokens)
    else if (event.type === 'source') screen.say('note', formatSource(event.source))
    else if (event.type === 'connection') screen.set({ connectionLost: event.lost })
    else screen.say('error', event.message)
  }

  /** The reasoning has ended: it takes one line. */
  fold(): void {
    const took = this.details.endReasoning(Date.now())
    if (took !== undefined) this.#screen.say('note', `Thought for ${formatDuration(took)} · Ctrl-O shows it`)
  }

  #worked(what: string, durationMs: number, failure: string | undefined): void {
    const mark = failure === undefined ? '✓' : '✗'
    const why = failure === undefined ? '' : `: ${failure}`
    this.#screen.say('note', `${mark} ${what} ${formatDuration(durationMs)}${why}`)
  }
}

/** Null without a record that can be read. */
export async function costOf(client: Client, { runId, usage }: TurnEnd, signal: AbortSignal): Promise<Cost | null> {
  if (usage === null || runId === undefined) return null
  return client.runs.get(runId, { signal }).then(
    ({ cost }) => cost,
    () => null,
  )
}

export function summarise(durationMs: number, usage: Usage | null, cost: Cost | null): string {
  const tokens =
    usage === null ? '' : ` · ${usage.input_tokens} tokens in, ${usage.output_tokens} out · ${formatCost(cost)}`
  return `${formatDuration(durationMs)}${tokens}`
}
