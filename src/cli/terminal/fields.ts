import { terminalLine } from './text.ts'

/** Lines of names and values, made safe for the terminal; fields without a value are skipped. */
export function formatFields(fields: readonly (readonly [name: string, value: string | null])[]): string {
  const given = fields.filter(([, value]) => value !== null && value !== '')
  const width = Math.max(...given.map(([name]) => name.length))
  return given.map(([name, value]) => `${name.padEnd(width)}  ${terminalLine(value ?? '')}\n`).join('')
}
