import { Component, type JSX } from 'preact'
import type { Usage } from '../../core/run.ts'
import type { Cost, Step } from '../../core/steps/step.ts'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { usageInWords } from '../../core/text/usage.ts'
import { Icon } from '../parts/icon.tsx'
import type { TimeScale } from '../state/run/time-scale.ts'
import { costInWords, kinds, stateOf } from './words.ts'

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
  took: string
  usage: Usage | null | undefined
  cost: Cost | null | undefined
  onSelect: (place: number) => void
  onTurn: (place: number) => void
}

const compared: readonly (keyof StepRowProps)[] = [
  ...(['step', 'version', 'offsetMs', 'depth', 'place', 'isOpen', 'isSelected', 'isActive', 'took', 'usage'] as const),
]

/** One row of the waterfall, which is drawn again only when something in it has changed. */
export class StepRow extends Component<StepRowProps> {
  override shouldComponentUpdate(next: StepRowProps): boolean {
    const present = this.props
    if (next.scale.key !== present.scale.key || next.cost?.usd !== present.cost?.usd) return true
    return (next.cost === null) !== (present.cost === null) || compared.some((name) => next[name] !== present[name])
  }

  render({ step, depth, place, isOpen, isSelected, isActive, took, onSelect, ...rest }: StepRowProps): JSX.Element {
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
      <div
        class={`step ${step.kind} is-${step.state}${step.isCut ? ' is-cut' : ''}`}
        role="row"
        aria-level={depth + 1}
        aria-rowindex={place + 1}
        aria-expanded={isOpen}
        aria-selected={isSelected}
        tabIndex={isActive ? 0 : -1}
        onClick={() => onSelect(place)}
      >
        <Label step={step} depth={depth} place={place} isOpen={isOpen} {...rest} />
        <span class="track" aria-hidden="true">
          <Bar step={step} {...rest} />
        </span>
        <span class="took" role="gridcell">
          {took}
        </span>
      </div>
    )
  }
}

type LabelProps = Pick<StepRowProps, 'step' | 'depth' | 'place' | 'isOpen' | 'usage' | 'cost' | 'onTurn'>

function Label({ step, depth, place, isOpen, usage, cost, onTurn }: LabelProps): JSX.Element {
  const { kind, label, note, progress, attempt } = step
  const [icon, words] = kinds[kind]
  const state = stateOf(step)
  const isSum = isOpen !== undefined && kind !== 'run'
  return (
    <span class="label" role="gridcell" style={{ paddingInlineStart: `${depth * 14 + 24}px` }}>
      <Icon name={icon} /> <span class="hidden">{words} </span>
      <span dir="auto">{label}</span> {state === null ? null : <Icon name={state[0]} />}
      {state === null ? null : <span class="hidden">{state[1]} </span>}
      {attempt === undefined ? null : <span class="badge">attempt {attempt}</span>}{' '}
      {note === undefined ? null : <span class="more">{note} </span>}
      {progress === undefined || step.endMs !== undefined ? null : <span class="more">so far {progress} </span>}
      {usage || cost ? (
        <span class="more used" title={usage ? usageInWords(usage) : undefined}>
          {isSum ? '∑ ' : ''}
          {usage ? (
            <>
              <span aria-hidden="true">
                {formatCount(usage.input_tokens)} in, {formatCount(usage.output_tokens)} out
              </span>
              <span class="hidden">{usageInWords(usage)}</span>
            </>
          ) : null}
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

/** From when to when; while it is under way, to now, which the style moves. */
function Bar({ step, scale, offsetMs }: Pick<StepRowProps, 'step' | 'scale' | 'offsetMs'>): JSX.Element {
  const { startMs, endMs, textMs } = step
  const from = scale.at(startMs + offsetMs)
  const to = endMs === undefined ? undefined : scale.at(endMs + offsetMs)
  const end = to === undefined ? 'calc(100% - var(--now, 100%))' : `${100 - to}%`
  const textAt = textMs === undefined ? undefined : scale.at(textMs + offsetMs)
  return (
    <>
      <span class="bar-of-step" style={{ insetInlineStart: `${from}%`, insetInlineEnd: end }} />
      {textAt === undefined ? null : (
        <span class="text" style={{ insetInlineStart: `${textAt}%`, insetInlineEnd: end }} />
      )}
    </>
  )
}

export function tookInWords(step: Step, ms: number | undefined): string {
  if (step.kind === 'end') return ''
  return ms === undefined ? '…' : formatMs(ms)
}
