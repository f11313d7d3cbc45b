import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Message } from '../../core/message.ts'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { Markdown } from '../parts/markdown.tsx'
import { Moment } from '../parts/moment.tsx'
import { Status } from '../parts/status.tsx'
import type { Address } from '../state/address/address.ts'
import { type Conversation, isUnderWay, type Turn } from '../state/conversation.ts'
import type { Studio } from '../state/studio.ts'
import { Branches } from './branches.tsx'
import { Exchanges } from './exchanges.tsx'
import { Outcome } from './outcome.tsx'
import { Parts } from './parts.tsx'
import { Citing, Sources } from './sources.tsx'
import { Waiting } from './waiting.tsx'

interface TurnProps {
  studio: Studio
  conversation: Conversation
  turn: Turn
  address: Extract<Address, { page: 'chats' }>
  /** Of the session's turns that are read, from 1; `count` is -1 while there are more. */
  place: number
  count: number
  /** How many runs of the session are at work before it. */
  before: number
  /** All runs that have had its place, if there are several. */
  branches: readonly string[] | undefined
}

/** What a person said, and what came of it. */
export function TurnView({
  studio,
  conversation,
  address,
  place,
  count,
  before,
  branches,
  ...props
}: TurnProps): JSX.Element {
  const opened = studio.chats.opened.value
  const replay = opened?.runId === props.turn.run.run_id ? opened.replay.value : undefined
  const turn = replay?.turnThen(props.turn) ?? props.turn
  const isNow = turn === props.turn
  const { run, messages, answer } = turn
  const { run_id: runId, session_id: sessionId } = run
  const element = useRef<HTMLElement>(null)
  // Drawn again when an event comes.
  void answer?.changes.value
  // Also then.
  const underWay = isUnderWay(run) || !isNow
  useEffect(() => {
    if (underWay || element.current === null) return
    const seen = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) conversation.look(runId)
    })
    seen.observe(element.current)
    return () => seen.disconnect()
  }, [conversation, runId, underWay])

  const isOpen = address.runId === runId
  useEffect(() => {
    // A link leads to this turn, and columns change their width.
    if (isOpen) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])

  const asked = messages.filter(({ role }) => role === 'user')
  const answered = messages.filter(({ role }) => role === 'assistant')
  const isWritten = underWay || answered.length === 0
  const parts = isWritten ? (answer?.parts ?? []) : answered.flatMap((message) => message.parts)
  const session = { page: 'chats', sessionId, filter: address.filter } as const
  return (
    <article
      ref={element}
      class={isOpen ? 'turn open' : 'turn'}
      aria-label={labelOf(asked)}
      aria-posinset={place}
      aria-setsize={count}
      tabIndex={-1}
    >
      {asked.map((message) => (
        <div class="asked" key={message.message_id}>
          <div class="said">
            <h3>You</h3> <Moment at={message.created_at} />
          </div>
          <Parts studio={studio} sessionId={sessionId} parts={message.parts} />
        </div>
      ))}
      <div class="answered">
        <div class="said">
          <h3>{run.entity_id}</h3>{' '}
          <Moment at={answered[0]?.created_at ?? run.completed_at ?? run.started_at ?? run.created_at} />
          {run.cache_hit ? <span class="badge">from the cache</span> : null}
          {isNow ? null : <span class="badge">as it was then</span>}
        </div>
        {answer === undefined || answer.reasoning === '' ? null : (
          <details class="reasoning">
            <summary>Reasoning</summary>
            <Markdown text={answer.reasoning} growing={underWay} />
          </details>
        )}
        <Citing studio={studio} address={address} runId={runId} answer={answer}>
          <Parts studio={studio} sessionId={sessionId} parts={parts} growing={underWay} />
          {run.status === 'running' ? <span class="caret" aria-hidden="true" /> : null}
          {answer === undefined ? null : <Sources answer={answer} parts={underWay ? [] : parts} />}
        </Citing>
        {answer && <Exchanges answer={answer} />}
        {isNow && run.status === 'input_required' ? (
          <Waiting
            studio={studio}
            conversation={conversation}
            run={run}
            answer={answer}
            onAnswered={() => element.current?.focus()}
          />
        ) : null}
        {isNow ? (
          <Outcome studio={studio} conversation={conversation} turn={turn} address={address} before={before} />
        ) : null}
      </div>
      <footer>
        <button
          type="button"
          class="quiet"
          aria-expanded={isOpen}
          onClick={() => studio.go({ ...session, runId: isOpen ? undefined : runId })}
        >
          <Status status={run.status} /> {summaryOf(turn)}
        </button>
        {branches === undefined ? null : (
          <Branches
            studio={studio}
            conversation={conversation}
            turn={turn}
            branches={branches}
            onChosen={(other) => isOpen && studio.go({ ...session, runId: other }, true)}
          />
        )}
      </footer>
    </article>
  )
}

function summaryOf({ run }: Turn): string {
  const { started_at, completed_at, usage, cost } = run
  const told: string[] = []
  if (started_at !== null && completed_at !== null)
    told.push(formatMs(Date.parse(completed_at) - Date.parse(started_at)))
  if (usage !== null) told.push(`${formatCount(usage.total_tokens)} tokens`, formatCost(cost))
  return told.join(' · ')
}

function labelOf(asked: readonly Message[]): string {
  return asked[0]?.content.slice(0, 80) || 'A run'
}
