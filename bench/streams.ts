import { availableParallelism, cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { table } from './postgres/report.ts'
import { thisBuild } from './start-up.ts'
import { measureOpen, type Open } from './streams/measure.ts'
import { lineThrough, missBy, predict } from './streams/model.ts'
import { measureStored } from './streams/stored.ts'
import { measuredOn, writeInto } from './write-into.ts'

/*
 * What quiet streams of runs cost, on the instance of the runs and on another one, with Postgres: memory and processor time at
 * `--counts` (1000,5000), what a line through them says of `--check` (10000), and what is measured there. Watches each for
 * `--seconds` (30). Then what runs of one fragment and `--megabytes` (200) of events take in Postgres. Fails when a prediction misses by
 * more than 20 %; of resident memory, when it is too small by so much. `--write`: into docs/scaling.md.
 */

const { values: options } = parseArgs({
  options: {
    counts: { type: 'string', default: '1000,5000' },
    check: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '30' },
    megabytes: { type: 'string', default: '200' },
    write: { type: 'boolean', default: false },
  },
})
const mostMissed = 0.2
const counts = options.counts.split(',').map(Number)
const check = Number(options.check)

const measured: Open[] = []
for (const streams of [...counts, check]) {
  console.error(`${streams} streams`)
  measured.push(await measureOpen(thisBuild, streams, Number(options.seconds) * 1000))
}
const checked = measured.at(-1) as Open
console.error('what is stored')
const stored = await measureStored(thisBuild, Number(options.seconds) * 300, Number(options.megabytes))

interface Figure {
  name: string
  of: (open: Open) => number
  show: (value: number) => string
  /** What one more stream needs. */
  showEach: (value: number) => string
  /** It is predicted as the most that there may be. */
  isBound?: boolean
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`
const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`
const percent = (share: number) => `${(share * 100).toFixed(1)} % of a core`
const microseconds = (share: number) => `${(share * 1e6).toFixed(1)} µs/s`
const memory = { show: megabytes, showEach: kilobytes }
const processor = { show: percent, showEach: microseconds }
const resident = { ...memory, isBound: true }
const figures: Figure[] = [
  { name: 'runs that wait: memory in use on their instance', of: ({ runs }) => runs.held, ...memory },
  { name: 'and a reader of each: memory in use', of: ({ read }) => read.held, ...memory },
  { name: 'and a reader of each: resident', of: ({ read }) => read.resident, ...resident },
  { name: 'and a reader of each: its CPU', of: (open) => open.onOwn.owner, ...processor },
  { name: 'and a reader of each: CPU of Postgres', of: (open) => open.onOwn.postgres, ...processor },
  { name: 'read on another instance: memory in use there', of: ({ tails }) => tails.held, ...memory },
  { name: 'read on another instance: resident', of: ({ tails }) => tails.resident, ...resident },
  { name: 'read on another instance: CPU there', of: (open) => open.onOther.other, ...processor },
  { name: 'read on another instance: CPU of the owner', of: (open) => open.onOther.owner, ...processor },
  { name: 'read on another instance: CPU of Postgres', of: (open) => open.onOther.postgres, ...processor },
]
/** Below this part of a core a figure is the noise of the clock: hundredths of a second. */
const leastShare = 0.02

const lineOf = (of: Figure['of']) =>
  lineThrough(measured.slice(0, -1).map((open) => ({ streams: open.streams, value: of(open) })))

/** Connections of a usual Postgres (100) by those of a server with knowledge (20). */
const serversOfCell = 5
/** Of the readers, those that have come back to another server than that of their run. */
const elsewhere = 0.1

/** So many quiet streams, in cells: servers with as many streams as were checked, and a database for each cell. */
function computed(streams: number): string[] {
  const servers = Math.ceil(streams / check)
  const cells = Math.ceil(servers / serversOfCell)
  const each = streams / servers
  const bytes = predict(
    lineOf(({ read }) => read.resident),
    each,
  )
  const share = (of: Figure['of']) => Math.max(0, predict(lineOf(of), each)) * servers
  const node = share((open) => open.onOwn.owner) + elsewhere * share((open) => open.onOther.other)
  const postgres = share((open) => open.onOwn.postgres) + elsewhere * share((open) => open.onOther.postgres)
  const cores = (amount: number) => amount.toFixed(1)
  const counts = [streams, cells, servers].map((count) => count.toLocaleString('en'))
  return [...counts, `${((bytes * servers) / 2 ** 30).toFixed(1)} GB`, cores(node), cores(postgres)]
}

const missed: string[] = []
const rows = figures.map(({ name, of, show, showEach, isBound = false }) => {
  const line = lineOf(of)
  const [predicted, value] = [predict(line, check), of(checked)]
  const miss = missBy(predicted, value)
  const isNoise = show === percent && value < leastShare
  const isSafe = isBound && predicted >= value
  if (!isNoise && !isSafe && miss > mostMissed)
    missed.push(`${name}: ${show(predicted)} predicted, ${show(value)} measured`)
  const cells = measured.slice(0, -1).map((open) => show(of(open)))
  return [name, ...cells, showEach(line.each), show(predicted), show(value), isNoise ? 'too small' : percentOf(miss)]
})
function percentOf(miss: number): string {
  return `${(miss * 100).toFixed(0)} %`
}

const markdown = [
  measuredOn(availableParallelism(), cpus()[0]?.model.trim() ?? ''),
  `Others had ${percent(Math.max(...measured.map((open) => Math.max(open.onOwn.foreign, open.onOther.foreign))))} at most.`,
  table(
    [
      'Streams',
      ...counts.map((count) => count.toLocaleString('en')),
      'each',
      `${check.toLocaleString('en')}, predicted`,
      'measured',
      'missed by',
    ],
    rows,
  ),
  'Computed from the lines, not measured, for streams of which one in ten is read on another server:',
  table(
    ['Open streams', 'cells', 'servers', 'memory of the servers', 'cores of node', 'cores of Postgres'],
    [check, 100_000, 1_000_000].map(computed),
  ),
  table(
    ['Stored in Postgres', 'on the disk', 'CPU of node', 'CPU of Postgres'],
    [
      [
        `a run of one fragment in a new session (of ${stored.runs.toLocaleString('en')})`,
        kilobytes(stored.bytesPerRun),
        `${stored.nodeMsPerRun.toFixed(3)} ms`,
        `${stored.postgresMsPerRun.toFixed(3)} ms`,
      ],
      [
        `1 GB of fragments of 1,000 characters, recorded (of ${stored.eventMegabytes} MB)`,
        `${stored.diskGigabytes.toFixed(2)} GB`,
        ...[stored.write.node, stored.write.postgres].map((seconds) => `${seconds.toFixed(0)} s`),
      ],
      [
        'the same, read on another instance',
        '–',
        ...[stored.read.node, stored.read.postgres].map((seconds) => `${seconds.toFixed(0)} s`),
      ],
    ],
  ),
].join('\n\n')
console.log(markdown)
for (const one of missed) console.error(one)
if (missed.length > 0) process.exitCode = 1
if (options.write) await writeInto('measured streams', markdown, undefined, 'scaling.md')
