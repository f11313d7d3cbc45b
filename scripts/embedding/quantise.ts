/** Each vector in 8 bits a number, with a scale of its own. */
export function quantise(table: Float32Array, dimensions: number): { scales: Float32Array; values: Int8Array } {
  const scales = new Float32Array(table.length / dimensions)
  const values = new Int8Array(table.length)
  for (let row = 0; row < scales.length; row++) {
    const vector = table.subarray(row * dimensions, (row + 1) * dimensions)
    const highest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    if (highest === 0) continue
    const scale = Math.fround(highest / 127)
    scales[row] = scale
    for (const [at, value] of vector.entries())
      values[row * dimensions + at] = Math.max(-127, Math.min(127, Math.round(value / scale)))
  }
  return { scales, values }
}

export function restore(scales: Float32Array, values: Int8Array, dimensions: number): Float32Array {
  return Float32Array.from(values, (value, at) => value * (scales[Math.floor(at / dimensions)] as number))
}
