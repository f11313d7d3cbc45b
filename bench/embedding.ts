import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { shippedTable, textEmbedder } from '../src/knowledge/embedders/static.ts'
import { composeKnowledge } from '../test/support/knowledge/folder.ts'
import { writeCorpus } from './knowledge-corpus.ts'
import { measuredOn, writeInto } from './write-into.ts'

/*
 * What the embedder 'static' costs: its first use in `--pairs` (5) new processes, the texts that it embeds in a second, and
 * the ingestion of `--files` (4000) Markdown files of 5 KB with it and with 'lexical' in turns, as `agentserve ingest` sends
 * them. `--write`: into docs/benchmarks.md.
 */
const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string', default: '5' },
    files: { type: 'string', default: '4000' },
    write: { type: 'boolean', default: false },
  },
})
const pairs = Number(options.pairs)
const filesARequest = 50
const requestsAtOnce = 2
const median = (all: number[]) => all.sort((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN

const script = join(import.meta.dirname, 'embedding/first-use.ts')
const uses: { firstUseMs: number; rssMb: number }[] = []
for (let count = 0; count < pairs; count++) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', script])
  uses.push(JSON.parse(stdout))
}
const firstUse = median(uses.map(({ firstUseMs }) => firstUseMs)).toFixed(0)
const memory = median(uses.map(({ rssMb }) => rssMb)).toFixed(1)
console.log(`first use: ${firstUse} ms, ${memory} MB more memory`)

const folder = await mkdtemp(join(tmpdir(), 'agentserve-embedding-'))
try {
  await writeCorpus(join(folder, 'corpus'), { files: Number(options.files), bytesEach: 5_000 })
  const names = await readdir(join(folder, 'corpus'), { recursive: true })
  const files: { source: string; content: string }[] = []
  for (const name of names.filter((each) => each.endsWith('.md')))
    files.push({ source: name, content: await readFile(join(folder, 'corpus', name), 'utf8') })
  const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)

  const embed = textEmbedder(await shippedTable())
  const texts = files.flatMap(({ content }) => content.match(/.{1,1000}/gs) ?? [])
  const speeds: number[] = []
  for (let round = 0; round < pairs; round++) {
    const begin = performance.now()
    for (const text of texts) embed(text)
    speeds.push((performance.now() - begin) / 1000)
  }
  const seconds = median(speeds)
  const alone = `${(texts.length / seconds).toFixed(0)} texts/s, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`
  console.log(`one thread: ${alone}`)

  /** MB per second, and per second of the processor, which what else runs on the machine changes less. */
  const ingested: Record<'static' | 'lexical', { speed: number; perCpu: number }[]> = { static: [], lexical: [] }
  for (let round = 0; round < pairs; round++)
    for (const provider of round % 2 === 0 ? (['static', 'lexical'] as const) : (['lexical', 'static'] as const)) {
      const data = join(folder, `${provider}-${round}`)
      const knowledge = composeKnowledge(data, { embedding: { provider } })
      await knowledge.open()
      await knowledge.ingest({ content: 'ready', source: 'ready' })
      const cpu = process.cpuUsage()
      const begin = performance.now()
      let from = 0
      const send = async () => {
        while (from < files.length) {
          const request = files.slice(from, from + filesARequest)
          from += filesARequest
          await knowledge.ingestMany(request)
        }
      }
      await Promise.all(Array.from({ length: requestsAtOnce }, send))
      const tookMs = performance.now() - begin
      const { user, system } = process.cpuUsage(cpu)
      ingested[provider].push({ speed: bytes / 1e3 / tookMs, perCpu: bytes / (user + system) })
      await knowledge.close()
      await rm(data, { recursive: true, force: true })
    }
  for (let round = 0; round < pairs; round++) {
    const told = (['static', 'lexical'] as const).map((provider) => {
      const { speed = Number.NaN, perCpu = Number.NaN } = ingested[provider][round] ?? {}
      return `${provider} ${speed.toFixed(2)} MB/s, ${perCpu.toFixed(2)} MB per second of a core`
    })
    console.log(`ingestion, pair ${round + 1}: ${told.join('; ')}`)
  }
  const middle = (provider: 'static' | 'lexical') => {
    const speed = median(ingested[provider].map((each) => each.speed)).toFixed(2)
    const perCpu = median(ingested[provider].map((each) => each.perCpu)).toFixed(2)
    return `${speed} MB/s, ${perCpu} MB per second of a core`
  }
  const table = [
    measuredOn(availableParallelism(), cpus()[0]?.model.trim() ?? ''),
    `Medians of ${pairs}; ${(bytes / 1e6).toFixed(0)} MB of Markdown in files of 5 KB.`,
    '',
    '| The embedder `static` | Budget | Measured |',
    '|---|---|---|',
    `| First use in a process | ≤ 60 ms | ${firstUse} ms |`,
    `| Memory that it adds | ≤ 30 MB | ${memory} MB |`,
    `| Texts of 1,000 characters, on one thread | | ${alone} |`,
    `| Ingestion, with hashed vectors beside it | ≥ 4 MB/s | ${middle('static')} |`,
    `| Ingestion with \`lexical\`, hashed vectors alone | | ${middle('lexical')} |`,
  ].join('\n')
  console.log(table)
  if (options.write) await writeInto('measured of the embedder', table, 'The embedder `static`')
} finally {
  await rm(folder, { recursive: true, force: true })
}
