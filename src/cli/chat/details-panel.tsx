import { Box, Text, useInput } from 'ink'
import { type ReactNode, useMemo, useState } from 'react'
import { wrapText } from '../markdown/wrapping.ts'
import { formatDuration } from '../terminal/duration.ts'
import type { Paint } from '../terminal/paint.ts'
import type { Section, Shown, TurnDetails } from './turn/details.ts'

interface PanelProps {
  details: TurnDetails
  /** Of the details, which change in place. */
  version: number
  columns: number
  rows: number
  paint: Paint
}

/** Reasoning, tools and steps of a turn, in a window that scrolls. */
export function DetailsPanel({ details, version, columns, rows, paint }: PanelProps): ReactNode {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version stands for what is in the details.
  const lines = useMemo(() => linesOf(details, columns, paint), [details, version, columns, paint])
  const height = Math.max(1, rows - 4)
  const last = Math.max(0, lines.length - height)
  const [wanted, setWanted] = useState(0)
  const top = Math.min(wanted, last)
  useInput((_input, key) => {
    if (key.eventType === 'release') return
    if (key.upArrow) setWanted(Math.max(0, top - 1))
    else if (key.downArrow) setWanted(Math.min(last, top + 1))
    else if (key.pageUp) setWanted(Math.max(0, top - height + 1))
    else if (key.pageDown) setWanted(Math.min(last, top + height - 1))
    else if (key.home) setWanted(0)
    else if (key.end) setWanted(last)
  })
  const place = last === 0 ? '' : `Lines ${top + 1} to ${top + height} of ${lines.length} · `
  return (
    <Box flexDirection="column" marginTop={1} width={columns}>
      {lines.slice(top, top + height).map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a window, which stay where they are.
        <Text key={index} wrap="truncate">
          {line === '' ? ' ' : line}
        </Text>
      ))}
      <Text wrap="truncate">{paint.dim(`${place}Ctrl-O closes · Up, Down, PgUp, PgDn, Home, End`)}</Text>
    </Box>
  )
}

/** No wider than the terminal. */
function linesOf(details: TurnDetails, columns: number, paint: Paint): string[] {
  const lines = details.sections.flatMap((section) => ['', ...sectionLines(section, columns, paint)])
  if (details.leftOutSections > 0) lines.push('', paint.dim(`(${details.leftOutSections} more tools and steps)`))
  return lines.slice(1)
}

interface Laid {
  columns: number
  /** What the lines were made from. */
  size: string
  lines: readonly string[]
}
const laid = new WeakMap<Section, Laid>()

function sectionLines(section: Section, columns: number, paint: Paint): readonly string[] {
  const { kind, name, input, output, error, durationMs } = section
  const size = [input?.text.length, output?.text.length, output?.leftOutChars, error?.length, durationMs].join()
  const known = laid.get(section)
  if (known?.columns === columns && known.size === size) return known.lines
  const part = (head: string, shown: Shown | undefined) =>
    shown === undefined || shown.text.trim() === ''
      ? []
      : [
          ...(head === '' ? [] : [`  ${paint.dim(head)}`]),
          ...wrapped(shown.text.trim(), columns),
          ...(shown.leftOutChars === 0 ? [] : [`    ${paint.dim(`(${shown.leftOutChars} more characters)`)}`]),
        ]
  const what = kind === 'reasoning' ? 'Reasoning' : kind === 'tool' ? `Tool ${name}` : `Step ${name}`
  const lines = [
    paint.green(`${what} · ${durationMs === undefined ? 'under way' : formatDuration(durationMs)}`),
    ...part('Input', input),
    ...part(kind === 'reasoning' ? '' : 'Output', output),
    ...(error === undefined ? [] : wrapped(error, columns).map((line) => paint.red(line))),
  ]
  laid.set(section, { columns, size, lines })
  return lines
}

const ascii = /^[\x20-\x7e]*$/

function wrapped(text: string, columns: number): string[] {
  const width = Math.max(1, columns - 4)
  return text
    .split('\n')
    .flatMap((line) => (line.length <= width && ascii.test(line) ? [line] : wrapText(line, width).split('\n')))
    .map((line) => `    ${line}`)
}
