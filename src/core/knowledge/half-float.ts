/**
 * Writes 32-bit floats as 16-bit ones (IEEE 754 binary16, rounded to nearest) into `halves` from `at` on. Eleven bits
 * of precision are enough for similarity, at half the bytes. For values within ±65,504.
 */
export function toHalves(values: Float32Array, halves: Uint16Array, at: number): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (let index = 0; index < bits.length; index++) {
    const word = bits[index] ?? 0
    const exponent = (word >>> 23) & 0xff
    let half = 0
    if (exponent >= 113) half = ((((word & 0x7fffffff) - (112 << 23)) >>> 12) + 1) >>> 1
    else if (exponent >= 101) half = ((((word & 0x7fffff) | 0x800000) >>> (125 - exponent)) + 1) >>> 1
    halves[at + index] = ((word >>> 16) & 0x8000) | half
  }
}

/** The inverse of `toHalves`; for finite values. */
export function fromHalves(halves: Uint16Array): Float32Array {
  return Float32Array.from(halves, (half) => {
    const exponent = (half >> 10) & 0x1f
    const fraction = half & 0x3ff
    const value = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15)
    return half & 0x8000 ? -value : value
  })
}
