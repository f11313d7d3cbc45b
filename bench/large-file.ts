import { spawn } from 'node:child_process'
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from './cluster/random.ts'
import { measuredOn, writeInto } from './write-into.ts'

/**
 * Time and memory of `agentserve ingest` with one large file: `node bench/large-file.ts --mb 100`. The peak is that of the
 * whole process, its threads included (Linux). `--bin`: another build's program, to compare with. `--files 1,100`: the same
 * text in so many files. `--write`: into docs/benchmarks.md.
 */
const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '100' },
    bin: { type: 'string', default: resolve(import.meta.dirname, '../bin/agentserve.js') },
    files: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    formats: { type: 'string', default: 'md,txt,csv' },
  },
})
const megabytes = Number(values.mb)
const random = createRandom(22)
const vocabulary = Array.from({ length: 20_000 }, (_, at) => `word${at.toString(36)}`)
const words = (count: number) =>
  Array.from({ length: count }, () => vocabulary[Math.floor(random() ** 2 * vocabulary.length)]).join(' ')

const writers: Record<string, (at: number) => string> = {
  md: (at) => `${'#'.repeat(1 + (at % 3))} Section ${at}\n\n${words(60)}.\n\n- ${words(10)}\n- ${words(12)}\n\n`,
  txt: () => `${words(80)}.\n\n`,
  csv: (at) => (at === 0 ? 'number,name,comment\n' : `${at},"${words(3)}","${words(12)}, ""quoted""\nsecond line"\n`),
}

async function write(path: string, format: string, files: number): Promise<void> {
  const file = createWriteStream(path)
  const line = writers[format]
  if (line === undefined) throw new Error(`there is no format ${format}`)
  let bytes = 0
  for (let at = 0; bytes < (megabytes * 1e6) / files; at++) {
    const text = line(at)
    bytes += text.length
    if (!file.write(text)) await new Promise<void>((done) => file.once('drain', () => done()))
  }
  await new Promise<void>((done) => file.end(() => done()))
}

/** Runs the program in the folder; gives what it says, its seconds and its peak in MB. */
async function run(folder: string, args: string[]) {
  const started = performance.now()
  const child = spawn(process.execPath, [values.bin, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (data) => {
    said += data
  })
  let peak = 0
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
    } catch {
      // It has ended.
    }
  }, 50)
  await new Promise<void>((done) => child.once('close', () => done()))
  clearInterval(watch)
  return { said: said.trim().split('\n').at(-1) ?? '', seconds: (performance.now() - started) / 1000, peak }
}

const rows: string[] = []
for (const files of values.files.split(',').map(Number))
  for (const format of values.formats.split(',')) rows.push(await measure(format, files))
const table = [
  `${measuredOn(availableParallelism(), cpus()[0]?.model.trim() ?? '')} \`agentserve ingest\` of ${megabytes} MB without a server, and a search of them then.`,
  '',
  '| Files | Time | MB/s | Peak memory | More than for a small file | Search |',
  '|---|---|---|---|---|---|',
  ...rows,
].join('\n')
if (values.write) await writeInto('measured with large files', table, 'Large files')

/** Prints a line, and gives a row. */
async function measure(format: string, files: number): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'large-file-'))
  try {
    const paths = Array.from({ length: files }, (_, at) => join(folder, `large-${at}.${format}`))
    await writeFile(join(folder, 'small.md'), '# Small\n\nA small file.\n')
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n')
    // For a build that sends files as requests.
    await writeFile(join(folder, 'agent.config.js'), "export default { server: { maxRequestSize: '1GB' } }\n")
    await run(folder, ['ingest', 'small.md'])
    const rest = await run(folder, ['ingest', 'small.md'])
    let size = 0
    for (const path of paths) {
      await write(path, format, files)
      size += (await stat(path)).size
    }
    const { said, seconds, peak } = await run(folder, ['ingest', ...paths])
    const search = await run(folder, ['search', 'worda1 wordb2 wordc3'])
    const what = `${files} ${format} ${files === 1 ? 'file' : 'files'}`
    const speed = (size / 1e6 / seconds).toFixed(1)
    process.stdout.write(
      `${what}, ${(size / 1e6).toFixed(0)} MB: ${seconds.toFixed(1)} s, ${speed} MB/s, peak ${peak.toFixed(0)} MB ` +
        `(${rest.peak.toFixed(0)} MB for a small file), then a search in ${search.seconds.toFixed(1)} s\n  ${said}\n`,
    )
    const memory = `${peak.toFixed(0)} MB | ${(peak - rest.peak).toFixed(0)} MB`
    return `| ${what} | ${seconds.toFixed(1)} s | ${speed} | ${memory} | ${search.seconds.toFixed(1)} s |`
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
