import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/client/create.ts'
import { isAppError } from '../../src/core/error.ts'
import { startMeasured } from '../measured-process.ts'
import { percentile } from '../percentile.ts'
import { binOf, startArgs } from '../start-up.ts'
import type { Benchmark, Figure } from './row.ts'

const fileBytes = 1024 * 1024
const warmUp = 10

/** Runs with a file of 1 MB, as forms, one at a time and each file another; and the same files read. */
export function filesBenchmark({ runs }: { runs: number }): Benchmark {
  return {
    name: 'files',
    async measure(build) {
      const folder = await mkdtemp(join(tmpdir(), 'agentserve-bench-'))
      const server = await startMeasured(binOf(build), startArgs(join(folder, 'data'), 'start', build))
      const client = createClient({ url: server.url })
      const run = async (index: number) => {
        const bytes = Buffer.alloc(fileBytes, `file ${index} `)
        const files = [{ bytes, name: 'file.bin', media_type: 'application/octet-stream' }]
        const { session_id, messages } = await client.agents.run('echo', { input: 'Look at this.', files })
        const part = messages[0]?.parts.find(({ type }) => type === 'file')
        if (part?.type !== 'file' || part.file_id === undefined) throw new Error(`${build}: the run has no file`)
        return [session_id, part.file_id] as const
      }
      const measured = async <IN, OUT>(name: string, list: readonly IN[], work: (one: IN) => Promise<OUT>) => {
        const times: number[] = []
        const results: OUT[] = []
        const before = (await server.ask('look')).cpuMicroseconds
        for (const one of list) {
          const startedAt = performance.now()
          results.push(await work(one))
          times.push(performance.now() - startedAt)
        }
        const cpuMs = ((await server.ask('look')).cpuMicroseconds - before) / 1000
        const figures: Figure[] = [
          { name: `${name}: CPU`, unit: 'ms', value: cpuMs / list.length },
          { name: `${name}: p50`, unit: 'ms', value: percentile(times, 0.5) },
        ]
        return { figures, results }
      }
      try {
        const numbers = Array.from({ length: warmUp + runs }, (_, index) => index)
        for (const index of numbers.slice(0, warmUp)) await run(index)
        const sent = await measured('run with a file of 1 MB', numbers.slice(warmUp), run)
        const read = await measured('read a file of 1 MB', sent.results, async ([session, fileId]) => {
          const { bytes } = await client.sessions.file(session, fileId)
          if (bytes.byteLength !== fileBytes) throw new Error(`${build}: ${bytes.byteLength} bytes came back`)
        })
        const peak = { name: 'files of 1 MB: peak memory', unit: 'MB', value: (await server.peakRssBytes()) / 2 ** 20 }
        return [...sent.figures, ...read.figures, peak]
      } catch (error) {
        if (isAppError(error) && error.code === 'unsupported_media_type') return []
        throw error
      } finally {
        await client.close()
        await server.stop()
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}
