import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Usage } from '../../core/run.ts'
import { type Cost, sumCost, sumUsage } from '../../core/steps/step.ts'
import { formatCost, formatCount, formatMs } from '../../core/text/format.ts'
import { usageInWords } from '../../core/text/usage.ts'
import { Icon } from '../parts/icon.tsx'
import type { Row, RunTree } from '../state/run-tree.ts'
import { iconOf, kindInWords, stateOf, tookMs } from './words.ts'

interface CompactListProps {
  tree: RunTree
  selected: string | undefined
  urlOf: (row: Row) => string
}

const atOnce = 100

/** One line for a step, and one for the same again and again; without bars. */
export function CompactList({ tree, selected, urlOf }: CompactListProps): JSX.Element {
  const [count, setCount] = useState(atOnce)
  const groups = grouped(tree.rows.value)
  return (
    <div class="compact">
      <ol aria-label="Steps of the run">
        {groups.slice(0, count).map((rows) => (
          <Line key={rows[0]?.key} tree={tree} rows={rows} selected={selected} urlOf={urlOf} />
        ))}
      </ol>
      {groups.length > count ? (
        <button type="button" onClick={() => setCount(count + atOnce)}>
          {formatCount(groups.length - count)} more
        </button>
      ) : null}
    </div>
  )
}

/** Those that follow each other and differ in nothing but their times. */
export function grouped(rows: readonly Row[]): Row[][] {
  const groups: Row[][] = []
  for (const row of rows) {
    const before = groups.at(-1)?.at(-1)
    if (before !== undefined && sameness(before) === sameness(row)) groups.at(-1)?.push(row)
    else groups.push([row])
  }
  return groups
}

function sameness({ key, runId, step, depth, isOpen }: Row): string {
  if (step === undefined || isOpen !== undefined || step.state === 'failed') return key
  return JSON.stringify([runId, depth, step.kind, step.label, step.state])
}

interface LineProps extends CompactListProps {
  rows: readonly Row[]
}

function Line({ tree, rows, selected, urlOf }: LineProps): JSX.Element | null {
  const [first] = rows
  if (first === undefined) return null
  const { step, depth, note } = first
  const indent = { paddingInlineStart: `${depth * 14}px` }
  if (step === undefined) {
    return (
      <li style={indent} class="more">
        {note}
      </li>
    )
  }
  const state = stateOf(step)
  const facts = factsOf(tree, rows)
  return (
    <li style={indent}>
      <a href={urlOf(first)} aria-current={rows.some(({ key }) => key === selected) ? 'true' : undefined}>
        <Icon name={iconOf(step.kind)} /> {rows.length > 1 ? `${rows.length}× ` : ''}
        {kindInWords(step.kind)} <strong dir="auto">{step.label}</strong>
        {state && ` ${state}`}
        {step.attempt && ` attempt ${step.attempt}`}
        {rows.length === 1 && step.note && <span class="more"> {step.note}</span>}
        {facts && ` · ${facts}`}
      </a>
    </li>
  )
}

function factsOf(tree: RunTree, rows: readonly Row[]): string {
  let ms: number | undefined = 0
  let usage: Usage | null = null
  const costs: (Cost | null)[] = []
  for (const { step, events } of rows) {
    if (step === undefined) continue
    const took = step.kind === 'end' ? 0 : tookMs(step, events.pauses)
    ms = ms === undefined || took === undefined ? undefined : ms + took
    const used = tree.usageOf(step)
    if (used) usage = sumUsage(usage, used)
    const cost = tree.costOf(step)
    if (cost !== undefined) costs.push(cost)
  }
  const time = rows[0]?.step?.kind === 'end' ? '' : ms === undefined ? 'under way' : formatMs(ms)
  const cost = costs.length === 0 ? '' : formatCost(sumCost(costs))
  return [time, usage === null ? '' : usageInWords(usage), cost].filter((fact) => fact !== '').join(' · ')
}
