import { effect } from '@preact/signals'
import type { JSX, RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatMs } from '../../core/text/format.ts'
import { placeAfter } from '../parts/layout/list-keys.ts'
import { motionRestMs } from '../parts/layout/motion.ts'
import { VirtualList } from '../parts/layout/virtual-list.tsx'
import { spanOf, type TimeScale, timeScale } from '../state/run/time-scale.ts'
import type { Row, RunTree } from '../state/run-tree.ts'
import { StepRow } from './step-row.tsx'

type Box = RefObject<HTMLDivElement | null>

interface WaterfallProps {
  tree: RunTree
  /** The key of the row that is looked at. */
  selected: string | undefined
  onSelect: (row: Row) => void
}

/** What happened and how long it took, from top to bottom; a bar for each. */
export function Waterfall({ tree, selected, onSelect }: WaterfallProps): JSX.Element {
  const rows = tree.rows.value
  const { moment } = tree
  const { status, durationMs, waitedMs } = tree.root
  const { pauses } = moment ?? tree.root
  const isRunning = status === 'running'
  /** How long the run has worked without saying anything, when that is more than there is room for. */
  const [silentMs, setSilentMs] = useState(0)
  const spanMs = moment?.spanMs ?? (isRunning ? spanOf(Math.max(durationMs, silentMs)) : durationMs)
  const scale = useMemo(() => timeScale(spanMs, pauses), [spanMs, pauses])
  const box = useRef<HTMLDivElement>(null)
  const chosen = rows.findIndex(({ key }) => key === selected)
  const [kept, setKept] = useState(0)
  const active = chosen >= 0 ? chosen : Math.min(kept, rows.length - 1)
  useNow(box, isRunning ? spanMs : undefined, tree, scale, setSilentMs)

  const select = (place: number) => {
    const row = rows[place]
    if (row === undefined) return
    setKept(place)
    onSelect(row)
  }
  const turn = (place: number) => {
    const row = rows[place]
    if (row?.step === undefined) return
    // Who is in what is folded goes to its step.
    const isInside = place < active && rows.slice(place + 1, active + 1).every(({ depth }) => depth > row.depth)
    if (row.isOpen === true && isInside) select(place)
    tree.turn(row.runId, row.step)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next =
      event.key === 'Enter' ? active : (placeAfter(event.key, active, rows.length) ?? inward(event.key, rows, active))
    if (next === undefined) return
    event.preventDefault()
    if (next === 'turn') turn(active)
    else select(next)
  }
  const words = `Steps of the run, ${formatMs(durationMs - waitedMs)}`
  return (
    <div class={`timeline ${isRunning ? 'is-running' : ''}`} ref={box}>
      <Axis scale={scale} />
      <VirtualList
        items={rows}
        keyOf={({ key }) => key}
        active={active}
        role="treegrid"
        rowCount={rows.length}
        label={words}
        onKeyDown={onKeyDown}
        render={({ step, key, note, depth, isOpen, offsetMs, events }, place) =>
          step === undefined ? (
            <div
              class="step"
              role="row"
              aria-level={depth + 1}
              aria-rowindex={place + 1}
              tabIndex={place === active ? 0 : -1}
            >
              <span class="label more" role="gridcell" style={{ paddingInlineStart: `${depth * 14 + 24}px` }}>
                {note}
              </span>
            </div>
          ) : (
            <StepRow
              step={step}
              version={step.version}
              scale={scale}
              offsetMs={offsetMs}
              depth={depth}
              place={place}
              isOpen={isOpen}
              isSelected={key === selected}
              isActive={place === active}
              pauses={events.pauses}
              usage={tree.usageOf(step)}
              cost={tree.costOf(step)}
              onSelect={select}
              onTurn={turn}
            />
          )
        }
      />
    </div>
  )
}

/** Left and Right: fold and unfold, or go to what is around or inside. */
function inward(key: string, rows: readonly Row[], place: number): number | 'turn' | undefined {
  const { isOpen, depth = 0 } = rows[place] ?? {}
  if (key === 'ArrowRight') return isOpen === false ? 'turn' : isOpen === true ? place + 1 : undefined
  if (key !== 'ArrowLeft') return undefined
  if (isOpen === true) return 'turn'
  const around = rows.slice(0, place).findLastIndex((row) => row.depth < depth)
  return around < 0 ? undefined : around
}

function Axis({ scale }: { scale: TimeScale }): JSX.Element {
  return (
    <div class="axis" aria-hidden="true">
      <span class="track">
        {scale.ticks.map(({ at, ms }) => (
          <span key={ms} class={at > 88 ? 'tick is-last' : 'tick'} style={{ insetInlineStart: `${at}%` }}>
            {ms === 0 ? '0' : formatTick(ms)}
          </span>
        ))}
        {scale.cuts.map(({ at, ms }) => (
          <span
            key={at}
            class="cut"
            style={{ insetInlineStart: `${at}%` }}
            title={`${formatMs(ms)} of waiting are left out`}
          />
        ))}
      </span>
    </div>
  )
}

function formatTick(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  return ms < 60_000 ? `${ms / 1000} s` : `${Math.round(ms / 6000) / 10} min`
}

/** Moves the end of what is under way by one property of the style: nothing is drawn again for it, until the axis has to be longer. */
function useNow(
  box: Box,
  spanMs: number | undefined,
  { root, moment }: RunTree,
  scale: TimeScale,
  onLonger: (ms: number) => void,
): void {
  useLayoutEffect(() => {
    const element = box.current
    if (element === null || spanMs === undefined) return
    if (moment !== undefined) return effect(() => element.style.setProperty('--now', `${scale.at(moment.ms.value)}%`))
    const restMs = motionRestMs()
    let frame = 0
    let drawn = Number.NEGATIVE_INFINITY
    let place = ''
    const move = (time: number) => {
      frame = requestAnimationFrame(move)
      if (time - drawn < restMs) return
      drawn = time
      const now = Math.max(root.durationMs, Date.now() - (root.began ?? 0))
      const next = `${scale.at(now).toFixed(1)}%`
      if (next !== place) element.style.setProperty('--now', next)
      place = next
      if (now >= spanMs) onLonger(now)
    }
    move(performance.now())
    return () => {
      cancelAnimationFrame(frame)
      element.style.removeProperty('--now')
    }
  }, [box, spanMs, root, moment, scale, onLonger])
}
