import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Graph } from '../parts/graph.tsx'
import type { RunTree } from '../state/run-tree.ts'
import { aggregated, graphOf } from './graph-of-run.ts'

interface RunGraphProps {
  tree: RunTree
  selected: number | undefined
  urlOf: (seq: number) => string
}

/** More say more when they are put together by name. */
const mostAtFirst = 20
const most = 300

/** What followed what, as it ran. */
export function RunGraph({ tree, selected, urlOf }: RunGraphProps): JSX.Element {
  const shape = tree.shape.value
  const [wanted, setWanted] = useState<'steps' | 'names'>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the steps are the same object, whatever came
  const each = useMemo(() => graphOf(tree.root, urlOf), [tree, shape])
  const count = each.nodes.length
  const isByName = count > most || (wanted === undefined ? count > mostAtFirst : wanted === 'names')
  const shown = useMemo(() => (isByName ? aggregated(each) : each), [each, isByName])
  const how = isByName ? 'steps of one name together' : 'each step'
  return (
    <>
      {count > most ? null : (
        <div class="bar graph-bar">
          <button type="button" aria-pressed={!isByName} onClick={() => setWanted('steps')}>
            Each step
          </button>
          <button type="button" aria-pressed={isByName} onClick={() => setWanted('names')}>
            By name
          </button>
        </div>
      )}
      <Graph
        nodes={shown.nodes}
        edges={shown.edges}
        label={`Graph of the run, ${how}`}
        selected={isByName || selected === undefined ? undefined : String(selected)}
      />
    </>
  )
}
