import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

export type Environment = Record<string, string | undefined>

/** What earlier calls have put into `process.env`; a later read of the file may change it, the real environment never. */
const ours = new Map<string, string>()

/**
 * Puts the variables of `<folder>/.env` into `process.env`, so that a config finds them there. The real environment
 * wins; a variable that has gone from the file goes. Returns the file's path, whether it exists or not.
 */
export async function applyEnvFile(folder: string): Promise<string> {
  const file = join(folder, '.env')
  const values = parseEnv(await readIfPresent(file))
  for (const [name, value] of ours) {
    if (process.env[name] === value && values[name] === undefined) delete process.env[name]
    if (process.env[name] !== value || values[name] === undefined) ours.delete(name)
  }
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || (process.env[name] !== undefined && !ours.has(name))) continue
    process.env[name] = value
    ours.set(name, value)
  }
  return file
}

async function readIfPresent(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
