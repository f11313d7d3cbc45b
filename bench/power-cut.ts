import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createProject } from '../test/support/program.ts'
import { Disk, type Files } from './power-cut/disk.ts'
import { inspect, inspectProgram, restore } from './power-cut/inspect.ts'
import { createRandom } from './power-cut/random.ts'
import { type Recording, record } from './power-cut/recording.ts'

/*
 * The proof that an answer survives a power cut. The built program answers A2A messages under strace; for each answer the
 * database is rebuilt as a disk would have it on which the power failed when the answer began to leave, and once more at a
 * random moment; it has to open, be sound, and hold every run answered before. What counts as durable is in
 * power-cut/disk.ts; that the data folder itself is there is taken for granted.
 *
 * The same with `synchronous: 'NORMAL'` must find loss, or this proof is worth nothing. `--cuts` answers (300), `--seed`.
 */

const { values: options } = parseArgs({
  options: { cuts: { type: 'string', default: '300' }, seed: { type: 'string', default: '1' } },
})
const cuts = Number(options.cuts)
const seed = Number(options.seed)
/** Less is needed to see that loss is found. */
const selfCheckCuts = Math.min(cuts, 60)
const programStarts = 4

interface Row {
  synchronous: string
  what: string
  cuts: number
  losing: number
  mostLost: number
  corrupt: number
}

const project = await createProject()
const startedAt = performance.now()
const rows: Row[] = []
try {
  await replay('FULL', cuts)
  const normal = await replay('NORMAL', selfCheckCuts)
  // Losing answers is what NORMAL may do; losing the database is not.
  const finds = normal.some(({ losing }) => losing > 0) && normal.every(({ corrupt }) => corrupt === 0)
  print()
  if (!finds) console.error('The self-check failed: NORMAL has to lose answers and nothing else.')
  if (!finds) process.exitCode = 1
} finally {
  if (rows.some(({ synchronous, losing, corrupt }) => synchronous === 'FULL' && losing + corrupt > 0)) {
    console.error(`FULL lost something; trace and data are kept in ${project.folder}`)
    process.exitCode = 1
  } else await project.remove()
}

async function replay(synchronous: 'FULL' | 'NORMAL', count: number): Promise<Row[]> {
  const random = createRandom(seed)
  const recording = await record(project, synchronous, count, random)
  const { answered } = recording
  console.log(describe(synchronous, recording))
  const found = [
    'synced only, at an answer',
    'torn, at an answer',
    'torn, at any moment',
    'the program, at an answer',
  ].map((what) => ({ synchronous, what, cuts: 0, losing: 0, mostLost: 0, corrupt: 0 })) as [Row, Row, Row, Row]
  rows.push(...found)
  const folder = join(project.folder, 'restored')
  const check = async (row: Row, files: Files, line: number) => {
    const before = answered.filter((one) => one.line <= line)
    const finding = await inspect(await restore(files, folder), before)
    note(row, line, finding.lost, finding.corrupt)
  }
  const atAnswers = new Disk(recording.steps, recording.folder)
  for (const [index, { line }] of answered.entries()) {
    atAnswers.advance(line)
    await check(found[0], atAnswers.synced(), line)
    await check(found[1], atAnswers.torn(random), line)
    if ((index + 1) % Math.ceil(count / programStarts) > 0) continue
    await restore(atAnswers.torn(random), folder)
    const before = answered.slice(0, index + 1)
    const configFile = join(project.folder, 'restored.config.ts')
    await project.write(
      'restored.config.ts',
      "import { defineConfig } from 'agentserve'\nexport default defineConfig({})\n",
    )
    const { lost, corrupt } = await inspectProgram(project, configFile, folder, before)
    note(found[3], line, lost, corrupt)
  }
  const anywhere = new Disk(recording.steps, recording.folder)
  for (const line of momentsOf(recording, count, random)) {
    anywhere.advance(line)
    await check(found[2], anywhere.torn(random), line)
  }
  return found
}

/** Any beginning or end of a call on the files, from the first answer on, in order. */
function momentsOf({ steps, answered }: Recording, count: number, random: () => number): number[] {
  const first = answered[0]?.line ?? 0
  const lines = steps
    .flatMap(({ kind, begin, end }) => (kind === 'send' ? [] : [begin + 0.25, end + 0.25]))
    .filter((line) => line > first && line < Number.POSITIVE_INFINITY)
  return Array.from({ length: count }, () => lines[Math.floor(random() * lines.length)] ?? first).sort((a, b) => a - b)
}

function note(row: Row, line: number, lost: string[], corrupt: string[]): void {
  row.cuts += 1
  row.losing += lost.length > 0 ? 1 : 0
  row.mostLost = Math.max(row.mostLost, lost.length)
  row.corrupt += corrupt.length > 0 ? 1 : 0
  const worst = row.synchronous === 'FULL' ? [...lost, ...corrupt] : corrupt
  for (const what of worst.slice(0, 3)) console.error(`${row.what}, cut at line ${line} of the trace: ${what}`)
}

function describe(synchronous: string, { steps, answered, database }: Recording): string {
  const count = (kind: string, path: string, at?: number) =>
    steps.filter(
      (step) =>
        step.kind === kind &&
        'path' in step &&
        step.path === path &&
        (at === undefined || ('offset' in step && step.offset === at)),
    ).length
  const [syncs, pages] = [count('sync', `${database}-wal`), count('write', database)]
  const restarts = count('write', `${database}-wal`, 0)
  return `${synchronous}: ${answered.length} runs answered; the WAL was synced ${syncs} times and begun ${restarts} times, checkpoints wrote ${pages} pages`
}

function print(): void {
  const header = ['synchronous', 'what is left of the disk', 'cuts', 'cuts that lost', 'most lost', 'not sound']
  const cells = rows.map((row) => Object.values(row).map(String))
  console.log(`\n${[header, header.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`)
  console.log(`seed ${seed}, ${Math.round((performance.now() - startedAt) / 1000)} s`)
}
