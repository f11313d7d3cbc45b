import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/client/create.ts'
import { seeded, vocabulary, writeCorpus } from '../knowledge-corpus.ts'
import { startMeasured } from '../measured-process.ts'
import { percentile } from '../percentile.ts'
import { binOf, startArgs } from '../start-up.ts'
import type { Benchmark } from './row.ts'

const bytesEach = 5_000
const warmUp = 20

/** `agentserve ingest` of files of 5 KB into a running server, the same again, and hybrid searches through HTTP. */
export function knowledgeBenchmark({ files, searches }: { files: number; searches: number }): Benchmark {
  return {
    name: 'knowledge',
    async measure(build) {
      const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
      await writeCorpus(join(folder, 'corpus'), { files, bytesEach })
      const server = await startMeasured(binOf(build), startArgs(join(folder, 'data'), 'start', build))
      const client = createClient({ url: server.url })
      try {
        const before = (await server.ask('look')).cpuMicroseconds
        const first = await ingest(build, folder, server.url)
        const cpuMicroseconds = (await server.ask('look')).cpuMicroseconds - before
        const again = await ingest(build, folder, server.url)
        const times: number[] = []
        for (const [at, query] of questions(warmUp + searches).entries()) {
          const startedAt = performance.now()
          await client.knowledge.search(query)
          if (at >= warmUp) times.push(performance.now() - startedAt)
        }
        return [
          { name: `ingest ${files} files`, unit: 's', value: first },
          { name: `ingest ${files} files: CPU of the server`, unit: 's', value: cpuMicroseconds / 1e6 },
          { name: `ingest ${files} files: peak memory`, unit: 'MB', value: (await server.peakRssBytes()) / 2 ** 20 },
          { name: 'ingest again, unchanged', unit: 's', value: again },
          { name: 'search: p50', unit: 'ms', value: percentile(times, 0.5) },
        ]
      } finally {
        await client.close()
        await server.stop()
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}

async function ingest(build: string, folder: string, url: string): Promise<number> {
  const startedAt = performance.now()
  const args = [binOf(build), 'ingest', 'corpus', '--url', url]
  const [code] = await once(spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`${build}: ingest ended with ${code}`)
  return (performance.now() - startedAt) / 1000
}

function questions(count: number): string[] {
  const word = vocabulary(60_000, seeded(11))
  return Array.from({ length: count }, () => `how does ${word()} ${word()} do ${word()}`)
}
