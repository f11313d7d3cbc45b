import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { formatCount, formatMs } from '../parts/format.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { placeAfter } from '../parts/list-keys.ts'
import { VirtualList } from '../parts/virtual-list.tsx'
import type { RunSteps, Step, StepKind } from '../state/steps.ts'

const rowHeight = 26

const kinds: Readonly<Record<StepKind, [icon: IconName, words: string]>> = {
  run: ['run', 'run'],
  search: ['search', 'search'],
  model: ['model', 'model call'],
  tool: ['tool', 'tool call'],
  step: ['step', 'step'],
  wait: ['waiting', 'waits'],
  end: ['end', 'end'],
}

interface WaterfallProps {
  run: RunSteps
  selected: number | undefined
  onSelect: (seq: number) => void
}

/** What happened and how long it took, from top to bottom; a bar for each. */
export function Waterfall({ run, selected, onSelect }: WaterfallProps): JSX.Element {
  const { steps, totals } = run
  const place = steps.findIndex(({ seq }) => seq === selected)
  const [active, setActive] = useState(Math.max(0, place))
  const onKeyDown = (event: KeyboardEvent) => {
    const next = event.key === 'Enter' ? active : placeAfter(event.key, active, steps.length)
    if (next === undefined) return
    event.preventDefault()
    setActive(next)
    const step = steps[next]
    if (step !== undefined) onSelect(step.seq)
  }
  return (
    <VirtualList
      items={steps}
      keyOf={({ seq }) => String(seq)}
      rowHeight={rowHeight}
      active={place >= 0 ? place : active}
      role="treegrid"
      label={`Steps of the run, ${formatMs(totals.durationMs)}`}
      onKeyDown={onKeyDown}
      render={(step, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
        <div
          class={`step ${step.kind} is-${step.state}`}
          role="row"
          aria-level={step.depth + 1}
          aria-rowindex={at + 1}
          aria-selected={step.seq === selected}
          tabIndex={at === (place >= 0 ? place : active) ? 0 : -1}
          onClick={() => {
            setActive(at)
            onSelect(step.seq)
          }}
        >
          <StepRow step={step} durationMs={totals.durationMs} />
        </div>
      )}
    />
  )
}

function StepRow({ step, durationMs }: { step: Step; durationMs: number }): JSX.Element {
  const { kind, label, depth, note, usage, startMs, endMs, textMs } = step
  const [icon, words] = kinds[kind]
  const end = endMs ?? durationMs
  const whole = Math.max(1, durationMs)
  const percent = (ms: number) => `${(100 * ms) / whole}%`
  return (
    <>
      <span class="label" role="gridcell" style={{ paddingInlineStart: `${depth * 14}px` }}>
        <Icon name={icon} /> <span class="hidden">{words}</span>
        <span dir="auto">{label}</span> {note === undefined ? null : <span class="more">{note}</span>}
        {usage ? (
          <span class="more">
            {formatCount(usage.input_tokens)}→{formatCount(usage.output_tokens)}
          </span>
        ) : null}
      </span>
      <span class="track" role="gridcell">
        <span
          class="bar-of-step"
          style={{ insetInlineStart: percent(startMs), width: percent(Math.max(0, end - startMs)) }}
        >
          {textMs === undefined ? null : (
            <span
              class="text"
              style={{ insetInlineStart: `${(100 * (textMs - startMs)) / Math.max(1, end - startMs)}%` }}
            />
          )}
        </span>
        <span class="took">{kind === 'end' ? '' : endMs === undefined ? '…' : formatMs(end - startMs)}</span>
      </span>
    </>
  )
}
