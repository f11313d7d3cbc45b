import { Component, type JSX } from 'preact'
import type { Usage } from '../../core/run.ts'
import type { Cost, Pause, Step } from '../../core/steps/step.ts'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { usageInWords } from '../../core/text/usage.ts'
import { Icon } from '../parts/icon.tsx'
import type { TimeScale } from '../state/run/time-scale.ts'
import { costInWords, iconOf, kindInWords, stateOf, tookMs } from './words.ts'

export interface StepRowProps {
  step: Step
  /** `step` is the same object for as long as it is known. */
  version: number
  scale: TimeScale
  offsetMs: number
  depth: number
  place: number
  isOpen: boolean | undefined
  isSelected: boolean
  isActive: boolean
  pauses: readonly Pause[]
  usage: Usage | null | undefined
  cost: Cost | null | undefined
  onSelect: (place: number) => void
  onTurn: (place: number) => void
}

/** One row of the waterfall, which is drawn again only when something in it has changed. */
export class StepRow extends Component<StepRowProps> {
  override shouldComponentUpdate(next: StepRowProps): boolean {
    const present: object = this.props
    // What a row calls does the same each time.
    return Object.entries(next).some(
      ([name, value]) => typeof value !== 'function' && value !== present[name as keyof object],
    )
  }

  render(props: StepRowProps): JSX.Element {
    const { step, scale, offsetMs, depth, place, isOpen, isSelected, isActive, pauses, onSelect } = props
    const { kind, state, startMs, endMs, textMs } = step
    const at = (ms: number) => `${scale.at(ms + offsetMs)}%`
    // While it is under way, to now, which the style moves.
    const insetInlineEnd = `calc(100% - ${endMs === undefined ? 'var(--now, 100%)' : at(endMs)})`
    const took = tookMs(step, pauses)
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
      <div
        class={`step ${kind} is-${state}${step.isCut ? ' is-cut' : ''}`}
        role="row"
        aria-level={depth + 1}
        aria-rowindex={place + 1}
        aria-expanded={isOpen}
        aria-selected={isSelected}
        tabIndex={isActive ? 0 : -1}
        onClick={() => onSelect(place)}
      >
        <Label {...props} />
        <span class="track" aria-hidden="true">
          <span class="bar-of-step" style={{ insetInlineStart: at(startMs), insetInlineEnd }} />
          {textMs === undefined ? null : <span class="text" style={{ insetInlineStart: at(textMs), insetInlineEnd }} />}
        </span>
        <span class="took" role="gridcell">
          {kind === 'end' ? '' : took === undefined ? '…' : formatMs(took)}
        </span>
      </div>
    )
  }
}

function Label({ step, depth, place, isOpen, usage, cost, onTurn }: StepRowProps): JSX.Element {
  const { kind, label, note, progress, attempt } = step
  const state = stateOf(step)
  const isSum = isOpen !== undefined && kind !== 'run'
  return (
    <span class="label" role="gridcell" style={{ paddingInlineStart: `${depth * 14 + 24}px` }}>
      <Icon name={iconOf(kind)} /> <span class="hidden">{kindInWords(kind)} </span>
      <span dir="auto">{label}</span> {state && <Icon name={state} />}
      {state && <span class="hidden">{state} </span>}
      {attempt && <span class="badge">attempt {attempt}</span>} {note && <span class="more">{note} </span>}
      {progress && step.endMs === undefined && <span class="more">so far {progress} </span>}
      {usage || cost ? (
        <span class="more used" title={usage ? usageInWords(usage) : undefined}>
          {isSum ? '∑ ' : ''}
          {usage && (
            <>
              <span aria-hidden="true">
                {formatCount(usage.input_tokens)} in, {formatCount(usage.output_tokens)} out
              </span>
              <span class="hidden">{usageInWords(usage)}</span>
            </>
          )}
          {cost === undefined ? null : <span title={costInWords(cost)}> {formatCost(cost)}</span>}
        </span>
      ) : null}
      {isOpen === undefined ? null : (
        <button
          type="button"
          class={`fold ${isOpen ? 'is-open' : ''}`}
          style={{ insetInlineStart: `${depth * 14}px` }}
          tabIndex={-1}
          aria-label={isOpen ? 'Fold' : 'Unfold'}
          onClick={(event) => {
            event.stopPropagation()
            onTurn(place)
          }}
        >
          <Icon name="fold" />
        </button>
      )}
    </span>
  )
}
