import { elements, type XmlNode } from '../markup/xml.ts'

type Format = 'number' | 'percent' | 'date' | 'time' | 'moment' | 'duration'

const builtIn: Record<number, Format> = {
  9: 'percent',
  10: 'percent',
  22: 'moment',
  45: 'time',
  46: 'duration',
  47: 'time',
}
const lastDay = 2_958_466

/** How the numbers of a workbook are shown, by the style of their cells: dates as `2026-03-01`, percentages with `%`. */
export function numberFormats(
  styles: XmlNode | undefined,
  starts1904: boolean,
): (value: string, style: number) => string {
  const own = new Map(
    elements(elements(styles, 'numFmts')[0], 'numFmt').map(({ attributes }) => [
      Number(attributes.numFmtId),
      formatOf(attributes.formatCode ?? ''),
    ]),
  )
  const formats = elements(elements(styles, 'cellXfs')[0], 'xf').map(({ attributes }): Format => {
    const id = Number(attributes.numFmtId ?? 0)
    const isDate = (id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)
    return own.get(id) ?? builtIn[id] ?? (isDate ? 'date' : id >= 18 && id <= 21 ? 'time' : 'number')
  })
  return (value, style) => {
    const number = Number(value)
    if (value.trim() === '' || !Number.isFinite(number)) return value
    return shown(number, formats[style] ?? 'number', starts1904)
  }
}

function shown(number: number, format: Format, starts1904: boolean): string {
  if (format === 'percent') return `${rounded(number * 100)}%`
  if (format === 'number' || number < 0 || number >= lastDay) return rounded(number)
  const seconds = Math.round(number * 86_400)
  if (format === 'duration') return `${Math.floor(seconds / 3600)}:${clock(seconds % 3600).slice(3)}`
  // In the calendar of 1900, 60 is the 29th of February, which never was.
  const first = starts1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, number < 60 ? 31 : 30)
  const day = new Date(first + Math.floor(seconds / 86_400) * 86_400_000).toISOString().slice(0, 10)
  const time = clock(seconds % 86_400)
  if (format === 'time' && number < 1) return time
  return format === 'date' && seconds % 86_400 === 0 ? day : `${day} ${time}`
}

/** `14:30`, or `14:30:05` when it has seconds; always with them for less than an hour of `mm:ss`. */
function clock(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const all = parts.map((part) => String(part).padStart(2, '0')).join(':')
  return seconds % 60 === 0 ? all.slice(0, 5) : all
}

/** Fifteen digits, as Excel has them: 0.3 and not 0.30000000000000004. */
function rounded(number: number): string {
  return String(Number(number.toPrecision(15)))
}

/** Letters in quotes, brackets and behind a backslash are text. */
function formatOf(code: string): Format {
  const positive = code.split(';', 1)[0] ?? ''
  if (/\[(h+|m+|s+)\]/i.test(positive)) return 'duration'
  const marks = positive.replace(/"[^"]*"|\[[^\]]*\]|\\.|_.|\*./g, '')
  if (marks.includes('%')) return 'percent'
  if (/general/i.test(marks)) return 'number'
  const [day, time] = [/[yd]/i.test(marks), /[hs]/i.test(marks)]
  if (day) return time ? 'moment' : 'date'
  return time ? 'time' : /m/i.test(marks) ? 'date' : 'number'
}
