import type { JSX } from 'preact'
import type { Message, Part } from '../../core/message.ts'
import { formatCost, formatCount, formatMs } from '../parts/format.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { Status } from '../parts/status.tsx'
import { isUnderWay, type Turn } from '../state/conversation.ts'
import type { Studio } from '../state/studio.ts'
import { Waiting } from './waiting.tsx'

interface TurnProps {
  studio: Studio
  turn: Turn
  isOpen: boolean
  onOpen: () => void
}

/** What a person said, and what came of it. */
export function TurnView({ studio, turn, isOpen, onOpen }: TurnProps): JSX.Element {
  const { run, messages, events } = turn
  const asked = messages.filter(({ role }) => role === 'user')
  const answered = messages.filter(({ role }) => role === 'assistant')
  const isLive = isUnderWay(run) || answered.length === 0
  const parts = isLive ? (events?.parts ?? []) : answered.flatMap((message) => message.parts)
  return (
    <article class={isOpen ? 'turn open' : 'turn'} aria-label={labelOf(asked)}>
      {asked.map((message) => (
        <div class="asked" key={message.message_id}>
          <h3 class="hidden">You</h3>
          <Parts parts={message.parts} />
        </div>
      ))}
      <div class="answered">
        <h3 class="hidden">{run.entity_id}</h3>
        {events !== undefined && events.reasoning !== '' && isLive ? (
          <details class="reasoning">
            <summary>Reasoning</summary>
            <Markdown text={events.reasoning} />
          </details>
        ) : null}
        <Parts parts={parts} />
        {isLive && isUnderWay(run) ? <span class="caret" aria-hidden="true" /> : null}
        <Waiting studio={studio} run={run} />
        {run.error === null ? null : (
          <p class="failure" role="alert">
            {run.error.message} <code>{run.error.code}</code>
          </p>
        )}
        {run.cancellation_reason === null ? null : <p class="failure">Cancelled: {run.cancellation_reason}</p>}
        {run.status === 'interrupted' ? <p class="failure">The process ended here.</p> : null}
        <Sources turn={turn} />
      </div>
      <footer>
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={onOpen}>
          <Status status={run.status} /> {summaryOf(turn)}
        </button>
        {isUnderWay(run) ? (
          <button type="button" onClick={() => void studio.stop(run.run_id)}>
            Stop
          </button>
        ) : null}
      </footer>
    </article>
  )
}

function Parts({ parts }: { parts: readonly Part[] }): JSX.Element {
  return (
    <>
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only added at the end
        <PartView key={place} part={part} />
      ))}
    </>
  )
}

function PartView({ part }: { part: Part }): JSX.Element {
  if (part.type === 'text') return <Markdown text={part.text} />
  if (part.type === 'data') return <JsonTree value={part.data} />
  const size = part.size === undefined ? '' : `, ${formatCount(part.size)} bytes`
  return (
    <p class="file">
      {part.name ?? 'file'} ({part.media_type}
      {size})
    </p>
  )
}

function Sources({ turn }: { turn: Turn }): JSX.Element | null {
  const sources = turn.events?.sources ?? []
  if (sources.length === 0) return null
  return (
    <ul class="sources" aria-label="Sources">
      {sources.map((source) => (
        <li key={source.index}>
          [{source.index}] {source.source}
          {source.line_start === undefined ? '' : `:${source.line_start}–${source.line_end ?? source.line_start}`}
        </li>
      ))}
    </ul>
  )
}

function summaryOf({ run }: Turn): string {
  const { started_at, completed_at, usage, cost, cache_hit } = run
  const told: string[] = []
  if (started_at !== null && completed_at !== null)
    told.push(formatMs(Date.parse(completed_at) - Date.parse(started_at)))
  if (usage !== null) told.push(`${formatCount(usage.total_tokens)} tokens`, formatCost(cost))
  if (cache_hit) told.push('from the cache')
  return told.join(' · ')
}

function labelOf(asked: readonly Message[]): string {
  const text = asked[0]?.content ?? ''
  return text.length > 80 ? `${text.slice(0, 80)}…` : text || 'A run'
}
