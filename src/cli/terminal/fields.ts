import { terminalLine } from './text.ts'

/** One thing as lines of names and values, made safe for the terminal; what has no value is left out. */
export function formatFields(fields: readonly (readonly [name: string, value: string | null])[]): string {
  const given = fields.filter(([, value]) => value !== null && value !== '')
  const width = Math.max(...given.map(([name]) => name.length))
  return given.map(([name, value]) => `${name.padEnd(width)}  ${terminalLine(value ?? '')}\n`).join('')
}
