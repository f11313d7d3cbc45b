import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lanceVectors } from '../../../src/knowledge/vectors/lancedb.ts'

/*
 * Makes a vector index in the folder given, says so, and closes; with `kill` it ends itself in the middle. Says at the
 * end where it would put temporary files of its own.
 */
const [folder = '', ending] = process.argv.slice(2)
const dimensions = 64
const rows = 4_000
const store = lanceVectors({ folder, indexedFromRows: rows / 2, quietMs: 0 })
const table = await store.table('c1_v1', dimensions)
const vector = (chunk: number) => Float32Array.from({ length: dimensions }, (_, at) => Math.sin(chunk * (at + 1)))
await table.add(Array.from({ length: rows }, (_, chunk) => ({ chunk, generation: 1, vector: vector(chunk) })))
const temporary = join(folder, 'temporary')
const isHalfMade = () => {
  try {
    return readdirSync(temporary, { recursive: true }).some((name) => String(name).includes('shuffle_'))
  } catch (error) {
    // A folder may go while it is listed.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
const isMade = () => readdirSync(join(folder, 'c1_v1.lance')).includes('_indices')
while (!(ending === 'kill' ? isHalfMade() : isMade())) await new Promise(setImmediate)
if (ending === 'kill') process.kill(process.pid, 'SIGKILL')
await store.close()
console.log(process.env.TMPDIR ?? '')
