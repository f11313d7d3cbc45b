import { describe, expect, test } from 'vitest'
import { type GraphEdge, type Layout, layOut, nodeSize } from '../../src/studio/parts/layout/graph-layout.ts'

const nodesOf = (ids: readonly string[]) => ids.map((id) => ({ id, label: id, kind: 'step' }))
const edgesOf = (...pairs: string[]): GraphEdge[] => pairs.map((pair) => ({ from: pair[0] ?? '', to: pair[1] ?? '' }))
const letters = (text: string) => nodesOf([...text])

/** Nodes that cover each other, or are not wholly in the picture. */
function misplaced({ nodes, width, height }: Layout): string[] {
  return nodes.flatMap((one, place) => {
    const isOut = [
      one.x - nodeSize.width / 2,
      one.y - nodeSize.height / 2,
      width - one.x - nodeSize.width / 2,
      height - one.y - nodeSize.height / 2,
    ]
    const covered = nodes
      .slice(place + 1)
      .filter((other) => Math.abs(one.x - other.x) < nodeSize.width && Math.abs(one.y - other.y) < nodeSize.height)
    return [...(Math.min(...isOut) < 0 ? [`${one.id} is out`] : []), ...covered.map(({ id }) => `${one.id} on ${id}`)]
  })
}
const rowsOf = ({ nodes }: Layout) =>
  [...Map.groupBy(nodes, ({ y }) => y)]
    .sort(([one], [other]) => one - other)
    .map(([, row]) => row.sort((one, other) => one.x - other.x).map(({ id }) => id))

describe('the layout of a graph', () => {
  test('puts what follows below, and a chain in one line', () => {
    const layout = layOut(letters('abc'), edgesOf('ab', 'bc'))
    expect(rowsOf(layout)).toEqual([['a'], ['b'], ['c']])
    expect(new Set(layout.nodes.map(({ x }) => x)).size).toBe(1)
    expect(layout.edges.map(({ path }) => path)).toEqual(['M84 52V88m-4-6 4 6 4-6', 'M84 132V168m-4-6 4 6 4-6'])
    expect(misplaced(layout)).toEqual([])
  })

  test('puts parallel branches beside each other, and what joins them in the middle', () => {
    const layout = layOut(letters('abcdef'), edgesOf('ab', 'ac', 'ad', 'be', 'cf', 'df', 'ef'))
    expect(rowsOf(layout)).toEqual([['a'], ['b', 'c', 'd'], ['e'], ['f']])
    expect(misplaced(layout)).toEqual([])
    const x = (id: string) => layout.nodes.find((node) => node.id === id)?.x ?? 0
    expect(Math.abs(x('a') - x('c'))).toBeLessThan(nodeSize.width)
  })

  test('leads a long edge past the nodes between its ends', () => {
    const layout = layOut(letters('abc'), edgesOf('ab', 'bc', 'ac'))
    const past = layout.edges.find(({ from, to }) => from === 'a' && to === 'c')
    const b = layout.nodes.find(({ id }) => id === 'b')
    // Where it enters the layer of b.
    const [, x] = /(\d+) 88V132/.exec(past?.path ?? '') ?? []
    expect(Math.abs(Number(x) - (b?.x ?? 0))).toBeGreaterThan(nodeSize.width / 2)
    expect(misplaced(layout)).toEqual([])
  })

  test('draws a loop as a line back, and one of a single node beside it', () => {
    const layout = layOut(letters('abc'), edgesOf('ab', 'bc', 'ca', 'bb'))
    expect(rowsOf(layout)).toEqual([['a'], ['b'], ['c']])
    expect(layout.edges).toHaveLength(4)
    expect(misplaced(layout)).toEqual([])
    const back = layout.edges.find(({ from, to }) => from === 'c' && to === 'a')?.path ?? ''
    const [, fromY, toY] = /^M\d+ (\d+).* (?:\d+ |V)(\d+)m-4 6 4-6 4 6$/.exec(back) ?? []
    expect(Number(fromY)).toBeGreaterThan(Number(toY))
  })

  test('drops edges to nowhere; of nothing it is empty', () => {
    expect(layOut(letters('a'), edgesOf('ax', 'xa')).edges).toEqual([])
    expect(layOut([], [])).toMatchObject({ nodes: [], edges: [] })
  })

  test('places 200 steps in branches of ten without covering any, always the same', () => {
    const ids = Array.from({ length: 200 }, (_, place) => `s${place}`)
    const edges = ids.flatMap((id, place) => {
      const row = Math.floor(place / 10)
      return row === 0 ? [] : [{ from: ids[(row - 1) * 10 + ((place * 7) % 10)] ?? '', to: id }]
    })
    const layout = layOut(nodesOf(ids), edges)
    expect(misplaced(layout)).toEqual([])
    expect(rowsOf(layout).map((row) => row.length)).toEqual(Array(20).fill(10))
    expect(layOut(nodesOf(ids), edges)).toEqual(layout)
  })
})
