import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

export type Environment = Record<string, string | undefined>

/** Variables that this file has set in `process.env`; a later read may change these, never the real environment. */
const ours = new Map<string, string>()
/** The content of `.env` at the last read, including variables that the real environment overrides. */
let inFile: Environment = {}

/** A variable of the real environment; undefined if only `.env` sets it. */
export function fromEnvironment(name: string): string | undefined {
  return ours.has(name) ? undefined : process.env[name]
}

/** A variable of the `.env` at the last read, whatever the real environment says. */
export function fromEnvFile(name: string): string | undefined {
  return inFile[name]
}

/** Sets the variables of `<folder>/.env`, unless the real environment has them. Returns the path of the file. */
export async function applyEnvFile(folder: string): Promise<string> {
  const file = join(folder, '.env')
  const values: Environment = parseEnv(await readIfPresent(file))
  inFile = values
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
