import type { ByteSize } from '../types.ts'

const unitBytes: Record<string, number> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

/** In bytes; undefined for what is no size: negative, fractional, another unit, another type. */
export function parseSize(value: ByteSize | unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)$/i.exec(value.trim())
  if (match === null) return undefined
  const bytes = Math.round(Number(match[1]) * (unitBytes[(match[2] ?? '').toUpperCase()] ?? 1))
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
