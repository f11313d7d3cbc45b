export interface GraphNode {
  id: string
  label: string
  /** In one word: `model`, `tool`, `step`, `agent`. Its first letter stands in the node. */
  kind: string
  state?: 'running' | 'done' | 'failed' | 'waiting' | 'cancelled'
  href?: string | undefined
  /** How many it stands for. */
  count?: number
}
export interface GraphEdge {
  from: string
  to: string
  label?: string
}

/** In px; `x` and `y` are its middle. */
export interface PlacedNode extends GraphNode {
  x: number
  y: number
}
export interface PlacedEdge extends GraphEdge {
  /** A path of SVG, from node to node, with the head of an arrow at its end. */
  path: string
  labelX: number
  labelY: number
}
export interface Layout {
  width: number
  height: number
  nodes: PlacedNode[]
  edges: PlacedEdge[]
}

export const nodeSize = { width: 152, height: 44 }
const gap = { across: 20, down: 36 }
const edge = 8
const sweeps = 4

/** A node, or the place where an edge passes a layer. */
interface Item {
  node: GraphNode | undefined
  layer: number
  x: number
  above: Item[]
  below: Item[]
}
/** An edge by where its ends are, not by where it leads. */
interface Link {
  edge: GraphEdge
  /** It goes back up: part of a loop. */
  isBack: boolean
  top: string
  bottom: string
}
interface Route extends Link {
  /** From top to bottom. */
  items: Item[]
}

/** Places nodes in layers from top to bottom, those that follow each other below each other. The same graph is always placed the same. */
export function layOut(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Layout {
  const items = new Map<string, Item>(nodes.map((node) => [node.id, newItem(node)]))
  const known = edges.filter(({ from, to }) => items.has(from) && items.has(to))
  const back = backEdges(nodes, known)
  const links = known
    .filter(({ from, to }) => from !== to)
    .map((one): Link => {
      const isBack = back.has(one)
      return { edge: one, isBack, top: isBack ? one.to : one.from, bottom: isBack ? one.from : one.to }
    })
  setLayers(items, links)
  const layers: Item[][] = []
  const put = (item: Item) => {
    layers[item.layer] ??= []
    layers[item.layer]?.push(item)
  }
  for (const item of items.values()) put(item)
  const routes = links.map(
    (link): Route => ({ ...link, items: chain(items.get(link.top), items.get(link.bottom), put) }),
  )
  const above: Linked = (item) => item.above
  const below: Linked = (item) => item.below
  for (let sweep = 0; sweep < sweeps; sweep++) {
    for (const layer of layers) order(layer, layers, above)
    for (const layer of layers.toReversed()) order(layer, layers, below)
  }
  // Beside each other in their order, as near as there is room to what they are linked with.
  for (const layer of layers) spread(layer, above)
  for (const layer of layers.toReversed()) spread(layer, below)
  for (const layer of layers) spread(layer, above)
  const loops = known.filter(({ from, to }) => from === to)
  return drawn(items, layers, routes, loops)
}

function newItem(node?: GraphNode): Item {
  return { node, layer: 0, x: 0, above: [], below: [] }
}

/** Without these, nothing leads back to where it came from. */
function backEdges(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): ReadonlySet<GraphEdge> {
  const from = Map.groupBy(edges, (one) => one.from)
  const back = new Set<GraphEdge>()
  const seen = new Set<string>()
  const open = new Set<string>()
  for (const { id } of nodes) {
    const path = seen.has(id) ? [] : [{ id, next: 0 }]
    while (path.length > 0) {
      const here = path.at(-1)
      if (here === undefined) break
      seen.add(here.id)
      open.add(here.id)
      const one = from.get(here.id)?.[here.next++]
      if (one === undefined) {
        open.delete(here.id)
        path.pop()
      } else if (open.has(one.to)) back.add(one)
      else if (!seen.has(one.to)) path.push({ id: one.to, next: 0 })
    }
  }
  return back
}

/** Each below all that lead to it. */
function setLayers(items: ReadonlyMap<string, Item>, links: readonly Link[]): void {
  const below = Map.groupBy(links, ({ top }) => top)
  const waits = new Map<string, number>()
  for (const { bottom } of links) waits.set(bottom, (waits.get(bottom) ?? 0) + 1)
  const ready = [...items.keys()].filter((id) => !waits.has(id))
  for (const id of ready) {
    const layer = items.get(id)?.layer ?? 0
    for (const { bottom } of below.get(id) ?? []) {
      const item = items.get(bottom)
      if (item === undefined) continue
      item.layer = Math.max(item.layer, layer + 1)
      const left = (waits.get(bottom) ?? 0) - 1
      waits.set(bottom, left)
      if (left === 0) ready.push(bottom)
    }
  }
}

/** The way of an edge through the layers between its ends, which get places in them. */
function chain(top: Item | undefined, bottom: Item | undefined, put: (item: Item) => void): Item[] {
  if (top === undefined || bottom === undefined) return []
  const items = [top]
  for (let layer = top.layer + 1; layer < bottom.layer; layer++) items.push({ ...newItem(), layer })
  items.push(bottom)
  for (const item of items.slice(1, -1)) put(item)
  for (let place = 1; place < items.length; place++) {
    const [one, other] = [items[place - 1] as Item, items[place] as Item]
    one.below.push(other)
    other.above.push(one)
  }
  return items
}

/** Near those that they are linked with, so that few edges cross. */
function order(layer: Item[], layers: readonly Item[][], linked: Linked): void {
  const middle = new Map(
    layer.map((item, at): [Item, number] => {
      const places = linked(item).map((other) => layers[other.layer]?.indexOf(other) ?? 0)
      return [item, places.length === 0 ? at : mean(places)]
    }),
  )
  layer.sort((one, other) => (middle.get(one) ?? 0) - (middle.get(other) ?? 0))
}

function widthOf({ node }: Item): number {
  return node === undefined ? gap.across : nodeSize.width
}

type Linked = (item: Item) => readonly Item[]

function spread(layer: readonly Item[], linked: Linked): void {
  const wanted = layer.map((item) => {
    const xs = linked(item).map(({ x }) => x)
    return xs.length === 0 ? item.x : mean(xs)
  })
  let free = Number.NEGATIVE_INFINITY
  layer.forEach((item, at) => {
    const half = widthOf(item) / 2
    item.x = Math.max(wanted[at] ?? 0, free + half)
    free = item.x + half + gap.across
  })
  const shift = mean(layer.map((item, at) => (wanted[at] ?? 0) - item.x))
  for (const item of layer) item.x += shift
}

function drawn(
  items: ReadonlyMap<string, Item>,
  layers: readonly Item[][],
  routes: readonly Route[],
  loops: readonly GraphEdge[],
): Layout {
  const all = layers.flat()
  const left = Math.min(0, ...all.map((item) => item.x - widthOf(item) / 2)) - edge
  const right = Math.max(0, ...all.map((item) => item.x + widthOf(item) / 2))
  const room = loops.length > 0 || routes.some(({ isBack }) => isBack) ? gap.across * 2 : 0
  const step = nodeSize.height + gap.down
  const xOf = (item: Item) => Math.round(item.x - left)
  const yOf = (item: Item) => edge + item.layer * step + nodeSize.height / 2
  const half = nodeSize.height / 2
  const nodes = [...items.values()].flatMap((item) =>
    item.node === undefined ? [] : [{ ...item.node, x: xOf(item), y: yOf(item) }],
  )
  const edges = routes.map(({ edge: one, items: way, isBack }): PlacedEdge => {
    // Beside the way down, if there is one too.
    const aside = isBack ? nodeSize.width / 4 : 0
    const points = way.flatMap((item, at) => {
      const [x, y] = [xOf(item) + aside, yOf(item)]
      const [top, bottom] = [
        { x, y: y - half },
        { x, y: y + half },
      ]
      if (at === 0) return [bottom]
      return at === way.length - 1 ? [top] : [top, bottom]
    })
    const ordered = isBack ? points.toReversed() : points
    const [a, b] = [points[0], points[1]] as [Point, Point]
    return {
      ...one,
      path: curve(ordered) + (isBack ? 'm-4 6 4-6 4 6' : 'm-4-6 4 6 4-6'),
      labelX: (a.x + b.x) / 2 + 4,
      labelY: (a.y + b.y) / 2 + 4,
    }
  })
  const circles = loops.map((one): PlacedEdge => {
    const item = items.get(one.from) ?? newItem()
    const [x, y] = [xOf(item) + nodeSize.width / 2, yOf(item)]
    const path = `M${x} ${y - 10}C${x + 24} ${y - 14} ${x + 24} ${y + 14} ${x} ${y + 10}m6-4-6 4 6 4`
    return { ...one, path, labelX: x + 20, labelY: y + 4 }
  })
  return {
    width: Math.ceil(right - left + edge + room),
    height: edge * 2 + Math.max(0, layers.length * step - gap.down),
    nodes,
    edges: [...edges, ...circles],
  }
}

interface Point {
  x: number
  y: number
}

function curve([first, ...rest]: readonly Point[]): string {
  if (first === undefined) return ''
  let { x, y } = first
  let path = `M${x} ${y}`
  for (const to of rest) {
    const middle = (y + to.y) / 2
    path += to.x === x ? `V${to.y}` : `C${x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`
    x = to.x
    y = to.y
  }
  return path
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}
