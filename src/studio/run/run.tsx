import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Step } from '../../core/steps/step.ts'
import { formatCount } from '../../core/text/format.ts'
import { TabBar } from '../parts/tabs.tsx'
import type { Address } from '../state/address/address.ts'
import { isUnderWay } from '../state/conversation.ts'
import type { OpenedRun } from '../state/opened-run.ts'
import { Replay } from '../state/replay.ts'
import type { Replayed } from '../state/replayed.ts'
import type { RunEvents } from '../state/run/events.ts'
import type { Row, RunTree } from '../state/run-tree.ts'
import type { Studio } from '../state/studio.ts'
import { CompactList } from './compact.tsx'
import { EventList } from './event-list.tsx'
import { Inside } from './inside.tsx'
import { Inspector } from './inspector/inspector.tsx'
import { ReplayBar } from './replay-bar.tsx'
import { RunGraph } from './run-graph.tsx'
import { RunHeader } from './run-header.tsx'
import { Waterfall } from './waterfall.tsx'

type Chosen = Extract<Address, { page: 'chats' }>

interface RunViewProps {
  studio: Studio
  opened: OpenedRun
  address: Chosen
}

const modes = ['Timeline', 'Compact', 'Events', 'Graph'] as const
/** Stays from one run to the next. */
const mode = signal<(typeof modes)[number]>('Timeline')

/** One run: its steps in time, and what is in the one that is chosen. */
export function RunView({ studio, opened, address }: RunViewProps): JSX.Element {
  const { runId, events, tree } = opened
  // Drawn again when its steps have changed, not with each piece of text.
  tree.shape.value
  const close = () => studio.go(withoutStep(address))
  const urlOf = (inner: string) => studio.urlOf({ ...withoutStep(address), runId: inner })
  const select = ({ runId: inner, step }: Row) => {
    // Keys may follow each other faster than the page is drawn.
    const now = studio.address.peek()
    if (step !== undefined && now.page === 'chats')
      studio.go(placeOf(now, runId, inner, step.seq), now.seq !== undefined)
  }
  const chosen = address.inside ?? runId
  const chosenEvents = tree.eventsOf(chosen)
  const step = stepAt(chosenEvents, address.seq)
  const selected = keyAt(tree, address)
  useKeys(studio, tree, select)
  useFailedStep(studio, opened, address)
  const isThere = events.seq > 0
  useEffect(() => {
    if (address.inside !== undefined && isThere && tree.moment === undefined) void tree.reveal(address.inside)
  }, [tree, address.inside, isThere])
  return (
    <section class="run" aria-label={`Run ${runId}`} tabIndex={-1}>
      <RunHeader studio={studio} opened={opened} urlOf={urlOf} onClose={close} />
      {!opened.isMissing.value && (
        <TabBar
          label="How to show the run"
          tabs={modes}
          chosen={mode.value}
          onChoose={(one) => {
            mode.value = one
          }}
          wordsOf={(one) => (one === 'Events' ? <EventCount events={events} /> : one)}
        />
      )}
      <ReplayOf studio={studio} opened={opened} />
      <AboutRun opened={opened} />
      {mode.value === 'Events' ? (
        <EventList events={events.all} changes={events.changes} />
      ) : events.seq === 0 ? null : mode.value === 'Timeline' ? (
        <Waterfall tree={tree} selected={selected} onSelect={select} />
      ) : mode.value === 'Compact' ? (
        <CompactList
          tree={tree}
          selected={selected}
          urlOf={(row) => studio.urlOf(placeOf(address, runId, row.runId, row.step?.seq))}
        />
      ) : (
        <RunGraph
          tree={tree}
          selected={chosen === runId ? step?.seq : undefined}
          urlOf={(seq) => studio.urlOf(placeOf(address, runId, runId, seq))}
        />
      )}
      {mode.value === 'Events' || step === undefined || chosenEvents === undefined ? null : (
        <>
          <Inside studio={studio} step={step} around={chosen === runId ? undefined : chosen} urlOf={urlOf} />
          <Inspector
            studio={studio}
            runId={chosen}
            events={chosenEvents}
            step={step}
            view={address.view}
            onView={(view) => studio.go({ ...address, view }, true)}
            onEvents={() => {
              mode.value = 'Events'
              // A run inside has a list of its own.
              if (chosen !== runId) studio.go({ ...withoutStep(address), runId: chosen })
            }}
          />
        </>
      )}
    </section>
  )
}

/** A run that has ended, or waits, as it was at any moment. */
function ReplayOf({ studio, opened }: { studio: Studio; opened: OpenedRun }): JSX.Element | null {
  const button = useRef<HTMLButtonElement>(null)
  const replay = opened.replay.value
  const run = opened.run.value
  opened.whole.shape.value
  const isOver = run !== undefined && !isUnderWay(run) && opened.whole.root.isOver
  const act = (action: (replay: Replayed) => void) => {
    // Nobody would end it.
    if (opened.isClosed) return
    opened.replay.value ??= new Replay(opened.whole, studio.client)
    action(opened.replay.value)
  }
  const play = () => act((one) => (one.isPlaying.value ? one.pause() : one.play()))
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is of the run that is opened
  useEffect(() => {
    if (!isOver) return
    return studio.keys.on({
      play,
      'event-before': () => act((one) => one.step(-1)),
      'event-after': () => act((one) => one.step(1)),
    })
  }, [studio, opened, isOver])
  if (!isOver) return null
  return (
    <div class="bar replay" role="group" aria-label="Replay">
      <button type="button" ref={button} onClick={play}>
        {replay === undefined ? 'Replay' : replay.isPlaying.value ? 'Pause' : 'Play'}
      </button>
      {replay === undefined ? null : (
        <ReplayBar
          replay={replay}
          onEnd={() => {
            opened.endReplay()
            button.current?.focus()
          }}
        />
      )}
    </div>
  )
}

/** By itself, so that an event draws no more than this number. */
function EventCount({ events: { changes, all } }: { events: RunEvents }): JSX.Element {
  changes.value
  return <>Events {formatCount(all.length)}</>
}

function AboutRun({ opened: { shown: present, error, events, tree } }: { opened: OpenedRun }): JSX.Element {
  tree.shape.value
  const wrong = error.value || tree.error.value
  if (wrong !== '') return <p role="alert">{wrong}</p>
  const words = present === undefined ? '' : aboutEnd(present)
  if (events.seq > 0) return <p role="status">{words}</p>
  const waits = present !== undefined && isUnderWay(present)
  return (
    <>
      <p role="status" class={waits ? undefined : 'appears'}>
        {present?.status === 'queued'
          ? 'Queued: the run before it in this session is under way.'
          : waits
            ? 'Waiting for its first event…'
            : 'Reading…'}
      </p>
      <div class="skeleton appears" aria-hidden="true" />
    </>
  )
}

function aboutEnd(run: NonNullable<OpenedRun['run']['value']>): string {
  const lost = run.truncated ? ' A crash may have lost its last moments.' : ''
  if (run.status === 'failed') return `Failed (${run.error?.code}): ${run.error?.message}${lost}`
  if (run.status === 'interrupted') return `The server ended while it was under way.${lost}`
  if (run.status === 'cancelled') {
    const reason = run.cancellation_reason
    return `Cancelled${reason === null ? '' : `: ${reason.replaceAll('_', ' ')}`}.${lost}`
  }
  if (run.cache_hit) return `From the cache: the same input was answered before.${lost}`
  return lost.trim()
}

function useKeys(studio: Studio, tree: RunTree, onSelect: (row: Row) => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a row is chosen by does the same each time
  useEffect(() => {
    const chosen = () => {
      const key = keyAt(tree, studio.address.peek())
      return tree.rows.value.findIndex((row) => row.key === key)
    }
    const move = (by: number) => {
      const place = chosen()
      const row = tree.rows.value[place < 0 ? 0 : place + by]
      if (row !== undefined) onSelect(row)
    }
    return studio.keys.on({
      'next-step': () => move(1),
      'previous-step': () => move(-1),
      expand: () => {
        const row = tree.rows.value[chosen()]
        if (row?.step !== undefined) tree.turn(row.runId, row.step)
      },
    })
  }, [studio, tree])
}

/** What went wrong is looked at first. */
function useFailedStep(studio: Studio, { run, whole: { root: events } }: OpenedRun, address: Chosen): void {
  const hasLooked = useRef(false)
  useEffect(() => {
    if (hasLooked.current || !events.isOver || run.value === undefined || isUnderWay(run.value)) return
    hasLooked.current = true
    if (run.value.status !== 'failed' || address.seq !== undefined) return
    studio.go({ ...address, seq: events.failed?.seq }, true)
  })
}

/** The step that an event's number names, or is within. */
function stepAt(events: RunEvents | undefined, seq: number | undefined): Step | undefined {
  return seq === undefined ? undefined : events?.steps.findLast((step) => step.seq <= seq)
}

/** Of the row that an address names. */
function keyAt(tree: RunTree, address: Address): string | undefined {
  if (address.page !== 'chats') return undefined
  const { inside = tree.runId, seq } = address
  const step = stepAt(tree.eventsOf(inside), seq)
  return step === undefined ? undefined : `${inside}:${step.seq}`
}

function placeOf(address: Chosen, runId: string, inner: string, seq: number | undefined): Chosen {
  return { ...address, seq, inside: inner === runId ? undefined : inner }
}

function withoutStep({ sessionId, filter }: Chosen): Chosen {
  return { page: 'chats', filter, sessionId }
}
