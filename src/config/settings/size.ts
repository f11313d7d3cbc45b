import { is } from '../../schema/field.ts'

const unitBytes: Record<string, number> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }

/** Bytes above 0, or a number with a unit of 1,024 (`'512KB'`, `'10MB'`); parsed to bytes. */
export function size() {
  const words = 'a number of bytes above 0, or a size with KB, MB or GB'
  return is<number | string>(words, (value) => (parseSize(value) ?? 0) > 0).transform((value) => parseSize(value) ?? 0)
}

function parseSize(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined
  if (typeof value !== 'string') return undefined
  const match = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB)$/i.exec(value.trim())
  if (match === null) return undefined
  const bytes = Math.round(Number(match[1]) * (unitBytes[(match[2] ?? '').toUpperCase()] ?? 1))
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
