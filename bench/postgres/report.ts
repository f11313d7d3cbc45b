import type { Row } from './rounds.ts'

/** A table of Markdown. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

export const whole = (value: number): string => (Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '–')
export const two = (value: number): string => (Number.isFinite(value) ? value.toFixed(2) : '–')
const four = (value: number): string => value.toFixed(4)

export const runColumns = [
  ...['runs/s', 'p50 ms', 'p99 ms', 'node ms a run', 'Postgres ms a run', 'commits/s', 'ms a commit'],
  'others',
]

export function runCells(row: Row): string[] {
  return [
    whole(row.perSecond),
    two(row.p50Ms),
    two(row.p99Ms),
    four(row.nodeMs),
    row.postgresMs === 0 ? '–' : four(row.postgresMs),
    row.commitsPerSecond === 0 ? '–' : whole(row.commitsPerSecond),
    two(row.commitMs),
    othersCell(row),
  ]
}

/** What others had of the machine; marked when it was too much. */
export function othersCell({ foreign, isDisturbed }: Pick<Row, 'foreign' | 'isDisturbed'>): string {
  return `${(foreign * 100).toFixed(0)} %${isDisturbed ? ' **disturbed**' : ''}`
}

/** One of those of the design, and what was measured for it. */
export interface Goal {
  goal: string
  measured: string
  holds: boolean
}

export function goalTable(goals: readonly Goal[]): string {
  return table(
    ['Goal', 'Measured', 'Holds'],
    goals.map(({ goal, measured, holds }) => [goal, measured, holds ? 'yes' : '**no**']),
  )
}
