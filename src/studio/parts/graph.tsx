import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { type GraphEdge, type GraphNode, layOut, nodeSize, type PlacedNode } from './layout/graph-layout.ts'
import { textScale } from './layout/narrow.ts'

export type { GraphEdge, GraphNode } from './layout/graph-layout.ts'

interface GraphProps {
  nodes: readonly GraphNode[]
  edges: readonly GraphEdge[]
  /** What it is a picture of. */
  label: string
  /** The id of the node that is looked at. */
  selected?: string | undefined
}

/** Nodes and what leads from one to another. Nodes with an `href` are links; who can't see the lines is told where they lead. */
export function Graph({ nodes, edges, label, selected }: GraphProps): JSX.Element {
  const layout = useMemo(() => layOut(nodes, edges), [nodes, edges])
  const labels = new Map(nodes.map((node) => [node.id, node.label]))
  const leadsTo = Map.groupBy(edges, ({ from }) => from)
  const size = { width: `${layout.width}px`, height: `${layout.height}px`, zoom: textScale.value }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled to by keys
    <figure class="graph" aria-label={label} tabIndex={0}>
      <div class="graph-all" style={size}>
        <svg aria-hidden="true">
          {layout.edges.map(({ from, to, path, label: words, labelX, labelY }) => (
            <g key={`${from} ${to}`}>
              <path class="graph-edge" d={path} />
              {words && (
                <text x={labelX} y={labelY}>
                  {words}
                </text>
              )}
            </g>
          ))}
        </svg>
        <ul>
          {layout.nodes.map((node) => (
            <li key={node.id} style={placeOf(node)}>
              <Node
                node={node}
                isSelected={node.id === selected}
                next={(leadsTo.get(node.id) ?? []).map(({ to }) => labels.get(to) ?? to)}
              />
            </li>
          ))}
        </ul>
      </div>
    </figure>
  )
}

function placeOf({ x, y }: PlacedNode): Record<string, string> {
  const { width, height } = nodeSize
  return { left: `${x - width / 2}px`, top: `${y - height / 2}px`, width: `${width}px`, height: `${height}px` }
}

interface NodeProps {
  node: GraphNode
  isSelected: boolean
  next: readonly string[]
}

function Node({ node, isSelected, next }: NodeProps): JSX.Element {
  const { label, kind, state, href, count } = node
  return (
    <a
      class={`graph-node of-${kind}${state === undefined ? '' : ` is-${state}`}`}
      // Without an address it is no link.
      href={href as string}
      aria-current={isSelected ? 'true' : undefined}
    >
      <span class="letter" aria-hidden="true">
        {kind.slice(0, 1).toUpperCase()}
      </span>
      <span class="hidden">{kind} </span>
      <span class="name" dir="auto" title={label}>
        {label.split(/(?<=[_./-])/).flatMap((part) => [part, <wbr key={0} />])}
      </span>
      {count && <span class="more">×{count}</span>}
      {state && <Icon name={state} />}
      <span class="hidden">
        {state === undefined ? '' : `, ${state}`}
        {next.length === 0 ? '' : `, leads to ${next.join(', ')}`}
      </span>
    </a>
  )
}
