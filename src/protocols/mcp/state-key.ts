import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

const bytes = 32
const fileName = 'mcp-state.key'

/**
 * The key that signs what comes back with a person's answer. It is kept in the folder, so that a question from before a restart can be
 * answered after it; without a folder it lives as long as the process.
 */
export async function stateKey(folder: string | undefined): Promise<Uint8Array> {
  if (folder === undefined) return randomBytes(bytes)
  const path = join(folder, fileName)
  const kept = await read(path)
  if (kept !== undefined) return kept
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const key = randomBytes(bytes)
  const draft = `${path}.${key.toString('hex').slice(0, 8)}`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(key)
      await file.sync()
    } finally {
      await file.close()
    }
    // Whole or not at all, and never in place of a key that another process has made meanwhile.
    await link(draft, path)
    return key
  } catch (error) {
    const made = isCode(error, 'EEXIST') ? await read(path) : undefined
    if (made === undefined) throw error
    return made
  } finally {
    await rm(draft, { force: true })
  }
}

async function read(path: string): Promise<Uint8Array | undefined> {
  try {
    const key = await readFile(path)
    if (key.length !== bytes) throw new Error(`${path} has ${key.length} bytes and not ${bytes}: delete it.`)
    return key
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
