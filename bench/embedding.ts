import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { shippedTable, textEmbedder } from '../src/knowledge/embedders/static.ts'
import { composeKnowledge } from '../test/support/knowledge/folder.ts'
import { writeCorpus } from './knowledge-corpus.ts'

/*
 * What the embedder 'static' costs: its first use in `--pairs` (5) new processes, the texts that it embeds in a second, and
 * the ingestion of `--files` (1000) Markdown files of 5 KB with it and with 'lexical', one after the other, in turns.
 */
const { values: options } = parseArgs({
  options: { pairs: { type: 'string', default: '5' }, files: { type: 'string', default: '1000' } },
})
const pairs = Number(options.pairs)
const median = (all: number[]) => all.sort((one, other) => one - other)[Math.floor(all.length / 2)] ?? Number.NaN

const script = join(import.meta.dirname, 'embedding/first-use.ts')
const uses: { firstUseMs: number; rssMb: number }[] = []
for (let count = 0; count < pairs; count++) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', script])
  uses.push(JSON.parse(stdout))
}
const firstUse = median(uses.map(({ firstUseMs }) => firstUseMs)).toFixed(0)
console.log(`first use: ${firstUse} ms, ${median(uses.map(({ rssMb }) => rssMb)).toFixed(1)} MB more memory`)

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
  console.log(`one thread: ${(texts.length / seconds).toFixed(0)} texts/s, ${(bytes / 1e6 / seconds).toFixed(1)} MB/s`)

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
      for (let from = 0; from < files.length; from += 100) await knowledge.ingestMany(files.slice(from, from + 100))
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
} finally {
  await rm(folder, { recursive: true, force: true })
}
