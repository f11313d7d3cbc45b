import type { Message } from './message.ts'

export interface Summary {
  session_id: string
  content: string
  model: string
  run_count: number
  message_count: number
  created_at: string
}

/** Writes summaries. `name` is recorded as the summary's `model`. Must honour the signal. */
export interface Summarizer {
  readonly name: string
  summarize(messages: readonly Message[], earlier: string | undefined, signal: AbortSignal): Promise<string>
}
