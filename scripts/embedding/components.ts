/** The rows of the table, projected on its principal components: the first `wanted` carry most of it. */
export function principalComponents(table: Float32Array, dimensions: number, wanted: number): Float32Array {
  const rows = table.length / dimensions
  const square = new Float64Array(dimensions * dimensions)
  for (let row = 0; row < rows; row++) {
    const values = table.subarray(row * dimensions, (row + 1) * dimensions)
    for (let one = 0; one < dimensions; one++)
      for (let other = one; other < dimensions; other++) {
        const at = one * dimensions + other
        square[at] = (square[at] as number) + (values[one] as number) * (values[other] as number)
      }
  }
  for (let one = 0; one < dimensions; one++)
    for (let other = 0; other < one; other++)
      square[one * dimensions + other] = square[other * dimensions + one] as number
  const { vectors, values } = eigen(square, dimensions)
  const order = [...values.keys()].sort(
    (one, other) => (values[other] as number) - (values[one] as number) || one - other,
  )
  const projected = new Float32Array(rows * wanted)
  for (let row = 0; row < rows; row++)
    for (let component = 0; component < wanted; component++) {
      let sum = 0
      const column = order[component] as number
      for (let at = 0; at < dimensions; at++)
        sum += (table[row * dimensions + at] as number) * (vectors[at * dimensions + column] as number)
      projected[row * wanted + component] = sum
    }
  return projected
}

const sweeps = 12

/** Of a symmetric matrix, by Jacobi's rotations in a fixed order; the vectors are columns. */
function eigen(matrix: Float64Array, size: number): { vectors: Float64Array; values: Float64Array } {
  const vectors = new Float64Array(size * size)
  for (let at = 0; at < size; at++) vectors[at * size + at] = 1
  const rotate = (values: Float64Array, one: number, other: number, cosine: number, sine: number) => {
    const before = values[one] as number
    values[one] = cosine * before - sine * (values[other] as number)
    values[other] = sine * before + cosine * (values[other] as number)
  }
  for (let sweep = 0; sweep < sweeps; sweep++)
    for (let one = 0; one < size; one++)
      for (let other = one + 1; other < size; other++) {
        const off = matrix[one * size + other] as number
        const difference = (matrix[other * size + other] as number) - (matrix[one * size + one] as number)
        if (Math.abs(off) <= 1e-14 * Math.abs(difference)) continue
        const ratio = difference / (2 * off)
        const tangent = (ratio < 0 ? -1 : 1) / (Math.abs(ratio) + Math.sqrt(ratio * ratio + 1))
        const cosine = 1 / Math.sqrt(tangent * tangent + 1)
        const sine = tangent * cosine
        for (let at = 0; at < size; at++) rotate(matrix, at * size + one, at * size + other, cosine, sine)
        for (let at = 0; at < size; at++) rotate(matrix, one * size + at, other * size + at, cosine, sine)
        for (let at = 0; at < size; at++) rotate(vectors, at * size + one, at * size + other, cosine, sine)
      }
  return { vectors, values: Float64Array.from({ length: size }, (_, at) => matrix[at * size + at] as number) }
}
