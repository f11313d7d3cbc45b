import type { JSX } from 'preact'
import type { RunEvent } from '../../../core/event.ts'
import { type Json, toText } from '../../../core/json.ts'
import type { Part } from '../../../core/message.ts'
import { decisionIn } from '../../../core/steps/facts.ts'
import type { EventOf, Step } from '../../../core/steps/step.ts'
import { formatBytes } from '../../../core/text/format.ts'
import { answerTo } from '../../../core/waiting.ts'
import { CopyButton } from '../../parts/copy.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { LongText, Said } from '../../parts/long-text.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import type { RunEvents } from '../../state/run/events.ts'

interface GaveProps {
  step: Step
  events: RunEvents
}

/** What came of a step. */
export function Gave({ step, events }: GaveProps): JSX.Element {
  const { kind } = step
  const own = events.of(step)
  const isOver = step.endMs !== undefined
  if (kind === 'tool') return <ToolGave events={own} />
  return (
    <>
      {kind === 'model' && <Answer {...step} isOver={isOver} />}
      {kind === 'run' && <Answer parts={events.parts} isOver={isOver} />}
      {own.map((event) => (
        <EventGave key={event.seq} event={event} asked={own[0]} />
      ))}
      {kind === 'step' && !isOver && <p class="about">Nothing yet.</p>}
    </>
  )
}

/** Longer texts are not read as Markdown. */
const longest = 100_000

interface AnswerProps extends Partial<Pick<Step, 'reasoning' | 'toolCalls'>> {
  parts: readonly Part[]
  isOver: boolean
}

function Answer({ parts, reasoning = '', toolCalls = [], isOver }: AnswerProps): JSX.Element {
  return (
    <>
      {reasoning && (
        <details class="reasoning">
          <summary>Reasoning</summary>
          <Said text={reasoning} />
        </details>
      )}
      {parts.length === 0 && !reasoning && (
        <p class="about">{isOver || toolCalls.length > 0 ? 'No text.' : 'Nothing yet.'}</p>
      )}
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end
        <AnswerPart key={place} part={part} />
      ))}
      {toolCalls.map(({ seq, name, input }) => (
        <JsonTree key={seq} name={`calls ${name}`} value={input} open />
      ))}
    </>
  )
}

function AnswerPart({ part }: { part: Part }): JSX.Element {
  if (part.type === 'data') return <JsonTree name="structured output" value={part.data} open />
  if (part.type === 'text')
    return part.text.length > longest ? <Said text={part.text} /> : <Markdown text={part.text} />
  const { name = 'file', media_type, size } = part
  return (
    <p class="file" dir="auto">
      {name} ({media_type}
      {size === undefined ? '' : `, ${formatBytes(size)}`})
    </p>
  )
}

function ToolGave({ events }: { events: readonly RunEvent[] }): JSX.Element {
  const call = events.find((event) => event.type === 'tool_call')
  const result = events.findLast((event) => event.type === 'tool_result')
  const progress = events.findLast((event) => event.type === 'tool_progress')
  return (
    <div class="sides">
      <Side name="Input" value={call?.input} />
      {result ? (
        <Result {...result} />
      ) : progress ? (
        <Side name="So far" value={progress.output} />
      ) : (
        <p class="about">Nothing yet.</p>
      )}
    </div>
  )
}

function Side({ name, value = null }: { name: string; value: Json | undefined }): JSX.Element {
  return (
    <section aria-label={name}>
      <h3>
        {name} <CopyButton text={() => toText(value)} label={`Copy the ${name.toLowerCase()}`} />
      </h3>
      <JsonTree value={value} />
    </section>
  )
}

/** Of a tool or a step that has ended. */
function Result({ error, output }: Pick<EventOf<'tool_result' | 'step_end'>, 'error' | 'output'>): JSX.Element {
  return (
    <>
      {error && (
        <section aria-label="Error">
          <h3>Error</h3>
          <p class="failure" dir="auto">
            <LongText text={error.message} />
          </p>
        </section>
      )}
      {output === undefined ? null : <Side name="Output" value={output} />}
    </>
  )
}

function EventGave({ event, asked }: { event: RunEvent; asked: RunEvent | undefined }): JSX.Element | null {
  switch (event.type) {
    case 'step_end':
      return <Result {...event} />
    case 'input_required':
      return (
        <>
          <p dir="auto">{event.prompt}</p>
          {event.data === undefined ? null : <JsonTree name="about" value={event.data} open />}
          {event.schema === undefined ? null : <JsonTree name="schema of the answer" value={event.schema} />}
        </>
      )
    case 'run_resumed':
      return asked?.type === 'input_required' ? <Given answer={event} callId={asked.call_id} /> : null
    case 'run_error':
      return (
        <p class="failure" dir="auto">
          {event.error.message} <code>{event.error.code}</code>
        </p>
      )
    case 'run_end':
      return <p>{endWords(event)}</p>
    default:
      return null
  }
}

function Given({ answer, callId }: { answer: EventOf<'run_resumed'>; callId: string | undefined }): JSX.Element {
  const { approved, reason, input, output = input } = answerTo(callId, answer)
  return (
    <>
      <p dir="auto">
        {decisionIn({ approved }) ?? 'answered'} by a person{reason === undefined ? '' : `: ${reason}`}
      </p>
      {output === undefined ? null : <JsonTree name="answer" value={output} open />}
    </>
  )
}

function endWords({ status, cancellation_reason: reason }: EventOf<'run_end'>): string {
  if (status === 'interrupted') return 'The process ended here.'
  if (status === 'input_required') return 'It waits for a person.'
  return status === 'cancelled' && reason !== undefined ? `Cancelled: ${reason}` : `The run is ${status}.`
}
