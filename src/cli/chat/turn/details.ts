import type { Client } from '../../../client/client.ts'
import { isFinalEvent } from '../../../core/event.ts'
import type { Json } from '../../../core/json.ts'
import { showEvent, type TurnEvent } from '../../runs/activity.ts'
import { createTerminalFilter, terminalText } from '../../terminal/text.ts'

/** Each text; what is left out is counted, and the record has it. */
const maxChars = 100_000
const maxSections = 500

export interface Section {
  kind: 'reasoning' | 'tool' | 'step'
  /** The tool or step. */
  name: string
  input?: Shown
  /** The reasoning, or what the tool or step gave. */
  output?: Shown
  error?: string
  /** Undefined while it is under way. */
  durationMs?: number
}

/** Safe for the terminal. */
export interface Shown {
  text: string
  leftOutChars: number
}

/** What an answer keeps folded: reasoning, the input and output of tools, and what steps gave. Memory is bounded. */
export class TurnDetails {
  readonly sections: Section[] = []
  /** Grows with each change. */
  version = 0
  leftOutSections = 0
  #reasoning: { section: Section; since: number } | undefined
  readonly #open = new Map<string, Section>()

  get isEmpty(): boolean {
    return this.sections.length === 0
  }

  take(event: TurnEvent, now: number): void {
    if (event.type === 'reasoning') this.#reason(event.text, now)
    else if (event.type === 'tool_call')
      this.#begin(event.callId, { kind: 'tool', name: event.name, input: toShown(event.whole) })
    else if (event.type === 'step_start') this.#begin(event.stepId, { kind: 'step', name: event.name })
    else if (event.type === 'tool_result') this.#end(event.callId, event)
    else if (event.type === 'step_end') this.#end(event.stepId, event)
    else return
    this.version++
  }

  /** How long it took; undefined when there was none. */
  endReasoning(now: number): number | undefined {
    if (this.#reasoning === undefined) return undefined
    const { section, since } = this.#reasoning
    this.#reasoning = undefined
    section.durationMs = Math.max(0, now - since)
    this.version++
    return section.durationMs
  }

  #reason(text: string, now: number): void {
    if (text === '') return
    if (this.#reasoning === undefined) {
      const section: Section = { kind: 'reasoning', name: '', output: { text: '', leftOutChars: 0 } }
      this.#add(section)
      this.#reasoning = { section, since: now }
    }
    const { output } = this.#reasoning.section
    if (output === undefined) return
    const room = Math.max(0, maxChars - output.text.length)
    output.text += text.slice(0, room).replaceAll('\t', '    ')
    output.leftOutChars += Math.max(0, text.length - room)
  }

  #begin(id: string, section: Section): void {
    this.#open.set(id, section)
    this.#add(section)
  }

  #end(
    id: string,
    { whole, error, durationMs }: { whole?: Json; error: string | undefined; durationMs: number },
  ): void {
    const section = this.#open.get(id)
    this.#open.delete(id)
    if (section === undefined) return
    section.durationMs = durationMs
    if (whole !== undefined) section.output = toShown(whole)
    if (error !== undefined) section.error = error
  }

  #add(section: Section): void {
    if (this.sections.length < maxSections) this.sections.push(section)
    else this.leftOutSections++
  }
}

/** From the record of a run that has ended or paused. */
export async function readDetails(client: Client, runId: string): Promise<TurnDetails> {
  const details = new TurnDetails()
  const clean = createTerminalFilter()
  let now = 0
  for await (const event of await client.runs.events(runId)) {
    now = Date.parse(event.at)
    // Text ends reasoning too.
    if (event.type === 'text_delta') details.endReasoning(now)
    const shown = showEvent(event)
    if (shown !== undefined)
      details.take(shown.type === 'reasoning' ? { type: 'reasoning', text: clean(shown.text) } : shown, now)
    if (isFinalEvent(event)) break
  }
  details.endReasoning(now)
  return details
}

function toShown(value: Json): Shown {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
  const shown = terminalText(text.slice(0, maxChars)).replaceAll('\t', '    ')
  return { text: shown, leftOutChars: Math.max(0, text.length - maxChars) }
}
