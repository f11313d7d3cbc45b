import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fillIntegrity, withoutIntegrity } from './lock-file.ts'

/*
 * Writes into package-lock.json the `integrity` of every entry that has none, as the registry says it. Names what the
 * registry does not have, and then ends with 1.
 */

const run = promisify(execFile)
const file = join(import.meta.dirname, '../package-lock.json')
const text = await readFile(file, 'utf8')

const found = new Map<string, string>()
for (const { name, version } of withoutIntegrity(text)) {
  const wanted = `${name}@${version}`
  try {
    const { stdout } = await run('npm', ['view', wanted, 'dist.integrity', '--json'])
    const integrity: unknown = stdout.trim() === '' ? undefined : JSON.parse(stdout)
    if (typeof integrity === 'string') found.set(wanted, integrity)
    else console.error(`${wanted}: the registry gives no integrity`)
  } catch (error) {
    const { stderr = String(error) } = error as { stderr?: string }
    console.error(`${wanted}: ${/404/.test(stderr) ? 'the registry does not have it' : stderr.trim()}`)
  }
}
const filled = fillIntegrity(text, found)
if (filled !== text) await writeFile(file, filled)
console.error(`${found.size} completed, ${withoutIntegrity(filled).length} left`)
process.exitCode = withoutIntegrity(filled).length === 0 ? 0 : 1
