import { availableParallelism, cpus } from 'node:os'
import type { Cell } from './cell.ts'
import type { Table } from './scenarios.ts'
import type { StartUp } from './start-up.ts'

export interface Measured {
  sends: Table
  streams: Table
  firstFragments: Cell[]
  longRuns: { fragments: number; cell: Cell }[]
  startUp: StartUp
  commitDelayP99Ms: number
  memory: { server: string; idle: number; peak: number; after: number }[]
  secondsPerCell: number
}

/** The figures as Markdown. */
export function toMarkdown(measured: Measured): string {
  const { sends, streams, firstFragments, longRuns, startUp, memory } = measured
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, ` +
      `${measured.secondsPerCell} s a row, the load in a process of its own on the same cores.`,
    ...[sends, streams].flatMap((one) => [`## ${one.title}`, runsTable(one)]),
    '## Time to the first fragment, at half of what each server can do',
    table(
      ['Server', 'streams/s', 'p50 ms', 'p99 ms', 'loop delay p99 ms', 'errors'],
      firstFragments.map((cell) => [
        cell.server,
        whole(cell.perSecond),
        two(cell.firstP50Ms),
        two(cell.firstP99Ms),
        two(cell.loopDelayP99Ms),
        `${cell.errors}`,
      ]),
    ),
    `The smallest write that this disk makes durable (4 KB and \`fdatasync\`) takes ${two(measured.commitDelayP99Ms)} ms (p99).`,
    '## One long run',
    table(
      ['Fragments', 'CPU ms a run', 'CPU µs a fragment', 'ratio', 'errors'],
      longRuns.map(({ fragments, cell }) => [
        whole(fragments),
        two(cell.cpuMsPerRequest),
        two((cell.cpuMsPerRequest / fragments) * 1000),
        times(perFragment({ fragments, cell }) / perFragment(longRuns[0])),
        `${cell.errors}`,
      ]),
    ),
    '## Memory',
    table(
      ['Server', 'idle MB', 'peak MB', 'after MB'],
      memory.map(({ server, idle, peak, after }) => [
        server,
        ...[idle, peak, after].map((bytes) => whole(bytes / 2 ** 20)),
      ]),
    ),
    '## Start',
    table(
      ['What (median of 5)', 'ms'],
      [
        ['`node -e 0`', whole(startUp.nodeMs)],
        ['`agentserve --help`', whole(startUp.helpMs)],
        ['`agentserve start` on an empty folder, until `/health` has answered', whole(startUp.coldStartMs)],
        ['`agentserve dev` on an empty folder, until it says that it serves', whole(startUp.devReadyMs)],
      ],
    ),
  ].join('\n\n')
}

/** How many answers were wrong, and what the first one was. */
export function errorsOf({ sends, streams, firstFragments, longRuns }: Measured): string[] {
  const cells = [...sends.cells, ...streams.cells, ...firstFragments, ...longRuns.map(({ cell }) => cell)]
  return cells
    .filter(({ errors }) => errors > 0)
    .map(({ server, connections, errors, firstError }) => `${server} × ${connections}: ${errors} wrong, ${firstError}`)
}

export function runsTable({ bare, stored, cells }: Table): string {
  const header = [
    'Connections',
    'Server',
    'a second',
    'p50 ms',
    'p99 ms',
    'CPU ms each',
    '× bare',
    ...(stored === undefined ? [] : ['× SQLite']),
    'loop delay p99 ms',
    'errors',
  ]
  const rows = cells.map((cell) => {
    const than = (server: string) => {
      const beside = cells.find((other) => other.server === server && other.connections === cell.connections)
      return times(cell.cpuMsPerRequest / (beside?.cpuMsPerRequest ?? Number.NaN))
    }
    return [
      `${cell.connections}`,
      cell.server,
      whole(cell.perSecond),
      two(cell.p50Ms),
      two(cell.p99Ms),
      cell.cpuMsPerRequest.toFixed(4),
      than(bare),
      ...(stored === undefined ? [] : [than(stored)]),
      two(cell.loopDelayP99Ms),
      `${cell.errors}`,
    ]
  })
  return table(header, rows)
}

function perFragment(row: { fragments: number; cell: Cell } | undefined): number {
  return row === undefined ? Number.NaN : row.cell.cpuMsPerRequest / row.fragments
}

const whole = (value: number): string => Math.round(value).toLocaleString('en')
const two = (value: number): string => value.toFixed(2)
const times = (value: number): string => `${value.toFixed(2)} ×`

function table(header: string[], rows: string[][]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
