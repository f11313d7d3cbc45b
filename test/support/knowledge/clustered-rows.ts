/** Rows in 20 clusters, the same in every run. */
export function clusteredRows(count: number, dimensions: number) {
  let state = 1
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  const centres = Array.from({ length: 20 }, () => Array.from({ length: dimensions }, random))
  return Array.from({ length: count }, (_, at) => ({
    chunk: at + 1,
    generation: 1 + (at % 10),
    vector: Float32Array.from(centres[at % 20] ?? [], (value) => value + random() / 2),
  }))
}
