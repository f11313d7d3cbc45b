import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { Part } from '../../core/message.ts'
import { Parts } from '../conversation/parts.tsx'
import { Waiting } from '../conversation/waiting.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { Status } from '../parts/status.tsx'
import { useRead } from '../state/reading/use-read.ts'
import type { Studio } from '../state/studio.ts'
import { heed, useAsides } from './asides.ts'
import { piecesOf } from './member-pieces.ts'
import { Part as Section } from './part.tsx'

/** A run as the conversation that it was: what it was told, the tools and members that it called, and what it said, in order. */
export function MemberPage({ studio }: { studio: Studio }): JSX.Element | null {
  const address = studio.address.value
  const title = useRef<HTMLHeadingElement>(null)
  const [opened] = useAsides(studio, address.page === 'member' ? [address.runId] : [])
  const present = opened?.run.value
  const parent = present?.status === 'input_required' ? present.parent_run_id : null
  // Without it, what the run waits for is told, and the run around it is a link.
  const { value: waitsIn } = useRead(parent ?? undefined, (signal) => outermost(studio, parent ?? '', signal))
  const [outer] = useAsides(studio, waitsIn === undefined ? [] : [waitsIn])
  if (opened === undefined) return null
  heed(opened)
  const { runId, events } = opened
  const [told] = present?.messages ?? []
  const urlOf = (id: string) => studio.urlOf({ page: 'member', runId: id })
  const partsOf = (parts: readonly Part[]) => (
    <Parts studio={studio} sessionId={present?.session_id ?? ''} parts={parts} />
  )
  return (
    <div class="two">
      <h2 ref={title} tabIndex={-1}>
        {present?.entity_id ?? 'Run'}
      </h2>
      {opened.error.value && <p role="alert">{opened.error.value}</p>}
      {present && (
        <p class="bar">
          <Status status={present.status} />
          {present.parent_run_id && <a href={urlOf(present.parent_run_id)}>The run around it</a>}
          <a href={studio.urlOf({ page: 'run', runId })}>Its steps</a>
        </p>
      )}
      {told && <Section title="What it was told">{partsOf(told.parts)}</Section>}
      {piecesOf(events).map(({ seq, title, parts = [], input, output, runId: inner }) => (
        <Section key={seq} title={title}>
          {partsOf(parts)}
          {inner && <a href={urlOf(inner)}>Its conversation</a>}
          {input === undefined ? null : <JsonTree value={input} />}
          {output === undefined ? null : <JsonTree name="gave" value={output} />}
        </Section>
      ))}
      {present?.status !== 'input_required' ? null : outer?.run.value?.status === 'input_required' ? (
        <Waiting studio={studio} run={outer.run.value} onAnswered={() => title.current?.focus()} />
      ) : (
        <p>Waits: {present.waiting.map(({ prompt }) => prompt).join(', ')}</p>
      )}
      {present?.error && <p class="failure">{present.error.message}</p>}
    </div>
  )
}

/** The turn: what a run inside waits for is answered there, with all else that the turn waits for. */
async function outermost({ client }: Studio, runId: string, signal: AbortSignal): Promise<string> {
  for (let at = runId; ; ) {
    const { parent_run_id: parent } = await client.runs.get(at, { signal })
    if (parent === null) return at
    at = parent
  }
}
