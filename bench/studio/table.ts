import { availableParallelism, cpus, loadavg } from 'node:os'
import type { Estimate } from '../against/interval.ts'
import { percentile } from '../percentile.ts'
import type { Sizes } from './sizes.ts'

/** Of the long run that is opened. */
export const studioEvents = 10_000

export interface Round {
  shell: number
  sessions: number
  sessionFrame: number
  blank: number
  open: number
  eventFrame: number
  heapMb: number
  nodes: number
  eventP50: number
  eventP95: number
  press: number
  hiddenWork: number
  hiddenScript: number
  seenScript: number
  runs: number
  runsWithPage: number
}

export interface StudioFigures {
  rounds: readonly Round[]
  sessions: number
  sizes: Sizes
  /** With a reader / without: of the runs a second. */
  reads: Estimate
  left: Estimate
  /** In ms. */
  start: Estimate
}

export function tableOf({ rounds, sessions, sizes, reads, left, start }: StudioFigures): string {
  const { first, whole, packaged } = sizes
  const middle = (name: keyof Round) =>
    percentile(
      rounds.map((round) => round[name]),
      0.5,
    )
  const most = (name: keyof Round) => Math.max(...rounds.map((round) => round[name])).toFixed(0)
  const row = (what: string, budget: string, name: keyof Round, unit = 'ms') =>
    `| ${what} | ${budget} | ${middle(name)} ${unit} | ${most(name)} ${unit} |`
  const size = (what: string, budget: string, [gzip, brotli]: number[]) =>
    `| ${what} | ${budget} | ${gzip?.toFixed(1)} KB (Brotli ${brotli?.toFixed(1)}) | |`
  const kept = percentile(
    rounds.map((round) => (100 * round.runsWithPage) / round.runs),
    0.5,
  )
  const part = (what: string, budget: string, { median, low, high }: Estimate) =>
    `| ${what} | ${budget} | ${(100 * median).toFixed(1)} % (${(100 * low).toFixed(1)} – ${(100 * high).toFixed(1)}) | |`
  const late = [start.median, start.low, start.high].map((ms) => ms.toFixed(1))
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${availableParallelism()} cores (${cpus()[0]?.model.trim()}), load average ${loadavg()[0]?.toFixed(1)}, ` +
      `Node ${process.version}, ${rounds.length} rounds, ${sessions.toLocaleString('en')} sessions.`,
    '',
    '| What | Budget | Median | Worst round |',
    '|---|---|---|---|',
    size('Script and style that are loaded first, gzipped', '≤ 60 KB', first),
    size('All scripts and styles, gzipped', '≤ 100 KB', whole),
    `| In the package, gzipped and as Brotli | ≤ 350 KB | ${packaged.toFixed(1)} KB | |`,
    row('Frame of the list on screen, nothing cached', '≤ 150 ms', 'shell'),
    row('Sessions on screen', '≤ 350 ms', 'sessions'),
    row(`A run of ${studioEvents.toLocaleString('en')} events, opened: its steps on screen`, '≤ 400 ms', 'open'),
    row('Scrolling the sessions, 800 px a frame: p95 of a frame', '≤ 20 ms', 'sessionFrame'),
    row('Scrolling the sessions: longest blank row', '≤ 100 ms', 'blank'),
    row(`Scrolling ${studioEvents.toLocaleString('en')} events: p95 of a frame`, '≤ 20 ms', 'eventFrame'),
    row('Event of a run until it is on screen, 100 a second: p50', '≤ 25 ms', 'eventP50'),
    row('Event of a run until it is on screen, 100 a second: p95', '≤ 50 ms', 'eventP95'),
    row('Key press while text streams: slowest response (told in steps of 8 ms, from 16 on)', '≤ 50 ms', 'press'),
    row('Heap with that run open', '≤ 40 MB', 'heapMb', 'MB'),
    row('Nodes with that run open', '≤ 3,500', 'nodes', ''),
    row('Hidden tab while a run streams: its requests and timers in a second', '0', 'hiddenWork', ''),
    row('Script of that tab in that second', '', 'hiddenScript'),
    row('Script of the same tab when it is seen', '', 'seenScript'),
    part('Runs a second with one reader of `/live`, of those without', '≥ 95 %', reads),
    part('Runs a second once the last reader has left, of those of a server that had none', '100 %', left),
    row('Runs a second without a page', '', 'runs', '/s'),
    `| With an open page, which draws on the same cores |  | ${kept} % | |`,
    `| Start of \`dev\`, later than without the studio | ≤ 5 ms | ${late[0]} ms (${late[1]} – ${late[2]}) | |`,
  ].join('\n')
}
