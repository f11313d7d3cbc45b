import type { RunEvent } from '../../../core/event.ts'
import { isJsonObject, type Json } from '../../../core/json.ts'
import { factsOf } from '../../../core/steps/facts.ts'
import { StepRecords } from '../../../core/steps/records.ts'
import type { Step } from '../../../core/steps/step.ts'
import { formatCost, formatMs, formatScore } from '../../../core/text/format.ts'
import type { RunDetail } from '../../../wire/run.ts'
import { fenced, inline, named } from './block.ts'

/** Of all steps: no model reads more. */
const longestSteps = 4_000_000

/**
 * A run as text for another model: what was asked, every step with what went in and came out, and how it ended. Its events are added
 * in order; of prompts and results, which have no limit together, only the text is kept that is shown.
 */
export class RunMarkdown {
  readonly #run = new StepRecords()
  /** By the number of the event: the prompt of a model call, the result of a tool. */
  readonly #blocks = new Map<number, string[]>()
  #characters = 0
  /** The messages of the last prompt, as JSON. */
  #before: string[] = []

  /** `event`: as it is sent, without its prompt. `prompt`: the event with it; absent when it may not be seen. */
  add(event: RunEvent, prompt?: RunEvent): void {
    this.#run.add('output' in event && event.type !== 'step_end' ? { ...event, output: null } : event)
    if (prompt?.type === 'model_call_start') this.#keep(event, this.#promptOf(prompt))
    if (event.type === 'tool_result') this.#keep(event, resultOf(event))
  }

  #keep({ seq }: RunEvent, blocks: string[]): void {
    const kept: string[] = []
    for (const block of blocks) {
      const isTooMuch = this.#characters > longestSteps
      kept.push(isTooMuch ? 'The rest is left out: the text would be too long.' : block)
      if (isTooMuch) break
      this.#characters += block.length
    }
    this.#blocks.set(seq, kept)
  }

  #promptOf({ messages, tools }: Extract<RunEvent, { type: 'model_call_start' }>): string[] {
    const number = this.#run.calls.length
    const before = this.#before
    this.#before = Array.isArray(messages) ? messages.map((message) => JSON.stringify(message)) : []
    const head = `#### Prompt of call ${number}`
    if (!Array.isArray(messages))
      return messages === undefined || messages === null
        ? ['Some messages of the prompt are gone.']
        : [head, partOf(messages)]
    const differs = this.#before.findIndex((message, place) => message !== before[place])
    const same = before.length === 0 ? 0 : differs === -1 ? messages.length : differs
    return [
      head,
      ...(same === 0 ? [] : [`The first ${same} messages are those of call ${number - 1}.`]),
      ...messages.slice(same).flatMap(messageOf),
      ...(number === 1 && Array.isArray(tools) ? ['Tools:', fenced(tools, 'json')] : []),
    ]
  }

  /** `prompts`: whether they were added. `link`: to the run in the studio, where it is served. It may be interrupted after each step. */
  *toText(run: RunDetail, { prompts, link }: { prompts: boolean; link: string | undefined }): Generator<void, string> {
    const asked = run.messages.filter(({ role }) => role === 'user')
    const blocks = [
      `# Run of the ${run.entity_kind} ${named(run.entity_id)}: ${run.status}`,
      [
        `- run: ${run.run_id}, session: ${run.session_id}`,
        `- began: ${run.created_at}, took: ${formatMs(this.#run.durationMs)}`,
        ...(run.usage === null ? [] : [`- tokens: ${run.usage.total_tokens}, cost: ${formatCost(run.cost)}`]),
        ...(link === undefined ? [] : [`- link: ${link}`]),
        ...(prompts ? [] : ['- prompts: left out, they need the scope `prompts`']),
      ].join('\n'),
      '## Question',
      ...asked.flatMap(({ parts }) => parts.map((part) => partOf(part as unknown as Json))),
      '## Steps',
      ...(yield* this.#shownSteps()),
      '## Answer',
      run.content === '' ? 'None.' : fenced(run.content),
      ...run.sources.map(({ index, source, cited }) => `- [${index}] ${inline(source)}${cited ? '' : ' (not cited)'}`),
      ...(run.error === null ? [] : ['## Error', `${named(run.error.code)}:`, fenced(run.error.message)]),
      ...(run.cancellation_reason === null ? [] : ['## Cancelled', fenced(run.cancellation_reason)]),
    ]
    return `${blocks.join('\n\n')}\n`
  }

  *#shownSteps(): Generator<void, string[]> {
    const blocks: string[] = []
    let characters = 0
    const { steps } = this.#run
    for (const [place, step] of steps.entries()) {
      if (step.kind === 'run') continue
      if (characters > longestSteps) {
        blocks.push(`${steps.length - place} more steps are left out: the text would be too long.`)
        break
      }
      for (const block of this.#stepOf(step, place)) {
        blocks.push(block)
        characters += block.length
      }
      yield
    }
    return blocks
  }

  #stepOf(step: Step, place: number): string[] {
    const head = `### ${place}. ${factsOf(step, this.#run).map(inline).join(' · ')}`
    if (step.kind === 'model')
      return [head, `model: ${inline(step.label)}`, ...(this.#blocks.get(step.seq) ?? []), ...gaveOf(step)]
    return [
      head,
      ...(step.kind === 'step' ? [inline(step.label)] : []),
      ...(step.childRunId === undefined ? [] : [`run inside: ${named(step.childRunId)}`]),
      ...this.#run.of(step).flatMap((event) => this.#eventOf(event, step)),
    ]
  }

  #eventOf(event: RunEvent, { kind }: Step): string[] {
    switch (event.type) {
      case 'retrieval':
        return [
          `Query: ${inline(event.query)}`,
          event.results
            .map(({ source, line_start, score, told }) => {
              const line = line_start === undefined ? '' : `:${line_start}`
              return `- ${formatScore(score)} ${inline(source)}${line}${told === false ? ' (not told)' : ''}`
            })
            .join('\n'),
        ].filter((block) => block !== '')
      case 'tool_call':
        return kind === 'tool' ? ['Input:', fenced(event.input, 'json')] : []
      case 'tool_result':
        return kind === 'tool' ? (this.#blocks.get(event.seq) ?? []) : []
      case 'step_end':
        return resultOf(event)
      case 'input_required':
        return kind === 'wait' ? [fenced(event.prompt)] : []
      case 'run_error':
        return [fenced(event.error.message)]
      default:
        return []
    }
  }
}

function resultOf({ error, output }: { error?: { message: string }; output?: Json }): string[] {
  return [
    ...(error === undefined ? [] : ['Error:', fenced(error.message)]),
    ...(output === undefined ? [] : ['Output:', fenced(output, 'json')]),
  ]
}

function messageOf(message: Json): string[] {
  if (!isJsonObject(message)) return [fenced(message)]
  const { role, content = null } = message
  const parts = Array.isArray(content) ? content : [content]
  return [`${inline(String(role))}:`, ...parts.map(partOf)]
}

function partOf(part: Json): string {
  if (typeof part === 'string') return fenced(part)
  if (isJsonObject(part)) {
    if (part.type === 'text' && typeof part.text === 'string') return fenced(part.text)
    if (part.type === 'data') return fenced(part.data ?? null, 'json')
  }
  return fenced(part, 'json')
}

function gaveOf({ number, reasoning, parts, toolCalls }: Step): string[] {
  return [
    `#### What call ${number} gave`,
    ...(reasoning === '' ? [] : ['Reasoning:', fenced(reasoning)]),
    ...(parts.length === 0 && toolCalls.length === 0 ? ['Nothing.'] : []),
    ...parts.map((part) => partOf(part as unknown as Json)),
    ...toolCalls.map(({ name }) => `It called ${inline(name)}.`),
  ]
}
